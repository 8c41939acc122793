import { join } from 'node:path';
import { chartName } from '../contract.ts';

/** Runs Helm and gives back what it prints. @throws Error with what it says when it fails */
export type RunHelm = (...args: readonly string[]) => Promise<string>;

/** Where charts come from, asked by Helm. */
export interface ChartSource {
  /** What `helm upgrade` is to be told. */
  readonly chart: string;
  /** Versions of the chart: every one, or of a registry, which has no index, the newest within the range and the newest of all. */
  versions(range: string): Promise<readonly string[]>;
  /**
   * Fetches a version, and gives back the file. A key of the keyring (a path; empty: any) must have signed it, or it throws: so
   * nothing is applied, or even looked into, that was not.
   */
  fetch(version: string, keyring: string): Promise<string>;
}

interface SourceOptions {
  readonly helm: RunHelm;
  /** `https://…` of a repository with an index, or `oci://…` of a registry's folder. */
  readonly repository: string;
  /** Where files are put. */
  readonly folder: string;
}

/** By the form of its address. */
export const chartSource = (options: SourceOptions): ChartSource =>
  options.repository.startsWith('oci://') ? registry(options) : indexed(options);

/** How Helm calls the repository here, whatever others call it. */
const ALIAS = 'lumigo';

function indexed({ helm, repository, folder }: SourceOptions): ChartSource {
  const name = `${ALIAS}/${chartName}`;
  return {
    chart: `${chartName} --repo ${repository}`,
    async versions() {
      await helm('repo', 'add', ALIAS, repository, '--force-update');
      const found = await helm('search', 'repo', name, '--versions', '--devel', '-o', 'json');
      const charts = JSON.parse(found) as readonly { readonly name: string; readonly version: string }[];
      return charts.filter((each) => each.name === name).map(({ version }) => version);
    },
    fetch: (version, keyring) => pull({ helm, folder }, name, version, keyring),
  };
}

const ANY = '>=0.0.0-0';

function registry({ helm, repository, folder }: SourceOptions): ChartSource {
  const chart = `${repository}/${chartName}`;
  const newest = async (range: string): Promise<readonly string[]> => {
    const metadata = await helm('show', 'chart', chart, '--version', range).catch(noneIfNoMatch);
    return [/^version: (\S+)$/m.exec(metadata)?.[1] ?? []].flat();
  };
  return {
    chart,
    versions: async (range) => [...(await newest(range)), ...(await newest(ANY))],
    fetch: (version, keyring) => pull({ helm, folder }, chart, version, keyring),
  };
}

/** A registry that answers, and has nothing in this range. */
function noneIfNoMatch(error: unknown): string {
  if (error instanceof Error && /could not locate a version matching/i.test(error.message)) return '';
  throw error;
}

async function pull(
  { helm, folder }: Omit<SourceOptions, 'repository'>,
  chart: string,
  version: string,
  keyring: string,
) {
  const verified = keyring === '' ? [] : ['--verify', '--keyring', keyring];
  await helm('pull', chart, '--version', version, '--destination', folder, ...verified);
  return join(folder, `${chartName}-${version}.tgz`);
}
