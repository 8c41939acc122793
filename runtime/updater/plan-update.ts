import { compare, gt, rsort, satisfies, valid, validRange } from 'semver';

export interface Revision {
  readonly revision: number;
  /** `deployed`, `superseded`, `failed`, `pending-upgrade` … */
  readonly status: string;
  /** A semantic version of the chart. */
  readonly version: string;
}

interface UpdateInput {
  readonly installed: string;
  readonly release: string | undefined;
  /** Oldest first. Undefined: only check. */
  readonly history: readonly Revision[] | undefined;
  readonly available: readonly string[];
  /** A semver range. Empty: newer versions of the installed major version, or of the minor version if the major is 0. */
  readonly versions: string;
  readonly chart: string;
  readonly namespace: string;
}

export type Outcome = 'operatorUpdated' | 'operatorUpToDate' | 'operatorUpdateAvailable' | 'cannotUpdateOperator';

export interface Result {
  /** In a plan, `operatorUpdated` means that the upgrade is due. */
  readonly outcome: Outcome;
  readonly newest?: string;
  readonly message: string;
}

/** Never selects an older version, or one that was installed before, and never upgrades a release that is not deployed. */
export function planUpdate(input: UpdateInput): Result {
  const { installed, release, history, versions } = input;
  if (valid(installed) === null)
    return refuse(
      `the installed version '${installed}' is not a semantic version, so the updater cannot compare it with other versions. If a parent chart installed the operator, set updater.mode to check`,
    );
  const last = history?.at(-1);
  if (last !== undefined && last.status !== 'deployed') return refuse(notInOrder(input, last));
  const range = findRange(installed, versions);
  if (range === undefined)
    return refuse(`'${versions}' is not a range of semantic versions, such as ^1.2.0 or '>=1.2 <3'`);
  const { newest, left, message } = getNewest(input, range);
  if (newest === undefined) return { outcome: 'operatorUpToDate', message };
  // A check cannot tell if the release is that of a parent chart.
  const how = `Install it as ${installed} was installed`;
  if (history === undefined) return { outcome: 'operatorUpdateAvailable', newest, message: `${message}. ${how}` };
  if (left === undefined) return { outcome: 'operatorUpdated', newest, message };
  const command = `helm upgrade ${release} ${input.chart} --version ${newest} --namespace ${input.namespace} --reset-then-reuse-values`;
  const why = `${newest} was installed before (revision ${left.revision}, ${left.status}), so the updater does not install it again, and keeps ${installed}`;
  return { outcome: 'operatorUpToDate', newest, message: `${why}. To install it yourself: ${command}` };
}

/** Undefined if it is invalid. */
const findRange = (installed: string, versions: string): string | undefined =>
  (valid(installed) && validRange(versions || `^${installed}`)) ?? undefined;

/**
 * Returns constraints for Helm, which finds only the newest version that meets each, and refuses more than 512 bytes.
 * The first ones omit pre-releases: Helm admits all if a bound has one, and npm's ranges end by bounds such as `<2.0.0-0`.
 */
export function toConstraints(installed: string, versions: string, history: readonly Revision[] = []): string[] {
  const range = findRange(installed, versions);
  if (range === undefined) return [];
  const stable = range.replaceAll(/(?<=[<>]=?[\d.]+)-[^\s|]+/g, '');
  const left = [...new Set(history.map(({ version }) => version))].filter((each) => valid(each) && gt(each, installed));
  const exclude = (part: string) => [part, ...left.filter((each) => satisfies(each, part))].join(' !=');
  const others = stable.split('||').map(exclude).join('||');
  return [...new Set([others.length > 512 ? stable : others, stable, range])];
}

export const refuse = (message: string): Result => ({ outcome: 'cannotUpdateOperator', message });

/** `left`: the revision with the newest version, if each version within the range failed or was rolled back before. */
function getNewest({ installed, available, history = [] }: UpdateInput, range: string) {
  const newer = rsort(available.filter((version) => valid(version) !== null && gt(version, installed)));
  const within = newer.filter((version) => satisfies(version, range));
  const findLeft = (newest: string) => history.find(({ version }) => valid(version) && compare(version, newest) === 0);
  const newest = within.find((version) => findLeft(version) === undefined) ?? within[0];
  if (newest !== undefined)
    return { newest, left: findLeft(newest), message: `${newest} is newer than ${installed} and within ${range}` };
  const [beyond] = newer;
  const more = beyond === undefined ? '' : `. The repository also has ${beyond}, which is outside this range`;
  return { message: `${installed} is installed. There is no newer version within ${range}${more}` };
}

function notInOrder({ release, namespace, history = [] }: UpdateInput, { revision, status }: Revision): string {
  const good = history.findLast((each) => each.status === 'superseded' || each.status === 'deployed')?.revision;
  const repair = good ? `run: helm rollback ${release} ${good} --namespace ${namespace}` : 'repair the release';
  if (status.startsWith('pending-'))
    return `another operation on release '${release}' is under way (revision ${revision} is ${status}). If it was interrupted, ${repair}`;
  // After a rollback, the updater does not select the version again.
  const next = status === 'failed' ? `repeat it by helm upgrade, or ${repair}` : repair;
  return `revision ${revision} of release '${release}' is ${status}, so the updater does not upgrade it. To continue, ${next}`;
}
