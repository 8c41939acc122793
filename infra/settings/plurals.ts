import { lumigo } from '../../runtime/contract.ts';

const irregular: Readonly<Record<string, string>> = {
  [lumigo.kind]: lumigo.plural,
  PriorityClass: 'priorityclasses',
  NetworkPolicy: 'networkpolicies',
  Ingress: 'ingresses',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
  MutatingAdmissionPolicy: 'mutatingadmissionpolicies',
};

/** Returns the plural name of a kind in the API, for the kinds of an installation and of workloads. */
export const toPlural = (kind: string): string => irregular[kind] ?? `${kind.toLowerCase()}s`;

/** Splits an `apiVersion`. The core group has no name. */
export function getGroupVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const [group = '', version] = apiVersion.split('/');
  return version === undefined ? { group: '', version: group } : { group, version };
}
