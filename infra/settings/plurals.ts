import { lumigo } from '../../runtime/contract.ts';

/** Returns the plural name of a kind in the API, for the kinds of an installation and of workloads. */
export function toPlural(kind: string): string {
  if (kind === lumigo.kind) return lumigo.plural;
  return `${kind.toLowerCase().replace(/y$/, 'ie').replace(/s$/, 'se')}s`;
}

/** Splits an `apiVersion`. The core group has no name. */
export function getGroupVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const [group = '', version] = apiVersion.split('/');
  return version === undefined ? { group: '', version: group } : { group, version };
}
