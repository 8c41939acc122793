import { compare, gt, major, rsort, satisfies, valid, validRange } from 'semver';

/** One revision of the release, as Helm remembers it. */
export interface Revision {
  readonly revision: number;
  /** `deployed`, `superseded`, `failed`, `pending-upgrade` … */
  readonly status: string;
  /** Of the chart; a semantic version. */
  readonly version: string;
}

interface UpdateInput {
  readonly release: string;
  readonly namespace: string;
  /** Oldest first, and at least one. */
  readonly history: readonly Revision[];
  /** Versions of the chart in the repository, in any order. */
  readonly available: readonly string[];
  /** Which of them may be taken, as a semver range; empty: those of the installed major version. */
  readonly versions: string;
}

/** What to do about a release, and why, in a sentence. */
interface UpdatePlan {
  /** `stay`: there is nothing to do. `refuse`: somebody has to look first. */
  readonly step: 'upgrade' | 'stay' | 'refuse';
  readonly to?: string;
  readonly message: string;
}

/**
 * Which version a release is to be upgraded to, if any: the newest within the range that is newer than the installed one. Never an
 * older one, never one that failed before, and nothing on top of a release that is not in order.
 */
export function planUpdate(input: UpdateInput): UpdatePlan {
  const { release, history, available, versions } = input;
  const last = history.at(-1);
  if (last === undefined || valid(last.version) === null)
    return refuse(
      `the version of release '${release}' is not a semantic version, so nothing is newer or older than it`,
    );
  if (last.status !== 'deployed') return refuse(notInOrder(input, last));
  const range = validRange(versions === '' ? `${major(last.version)}.x` : versions);
  if (range === null) return refuse(`'${versions}' is not a range of semantic versions, such as ^1.2.0 or '>=1.2 <3'`);
  const newer = rsort(available.filter((version) => valid(version) !== null && gt(version, last.version)));
  const [newest] = newer.filter((version) => satisfies(version, range));
  if (newest === undefined) return stay(upToDate(last.version, range, newer));
  const failed = history.find(({ version, status }) => status === 'failed' && compare(version, newest) === 0);
  if (failed !== undefined)
    return stay(
      `${newest} failed before (revision ${failed.revision}) and is not tried again; ${last.version} stays. To try it by hand: ${upgradeCommand(input, newest)}`,
    );
  return { step: 'upgrade', to: newest, message: `${newest} is newer than ${last.version} and within ${range}` };
}

const stay = (message: string): UpdatePlan => ({ step: 'stay', message });
const refuse = (message: string): UpdatePlan => ({ step: 'refuse', message });

const upgradeCommand = ({ release, namespace }: UpdateInput, version: string): string =>
  `helm upgrade ${release} lumigo/lumigo-operator --version ${version} --namespace ${namespace} --reset-then-reuse-values`;

function upToDate(installed: string, range: string, newer: readonly string[]): string {
  const [beyond] = newer;
  const more = beyond === undefined ? '' : `; the repository has ${beyond}, which is outside of it`;
  return `${installed} is installed, and there is no newer version within ${range}${more}`;
}

function notInOrder({ release, namespace, history }: UpdateInput, last: Revision): string {
  const good = history.findLast(({ status }) => status === 'superseded' || status === 'deployed');
  const mend = good === undefined ? '' : `: helm rollback ${release} ${good.revision} --namespace ${namespace}`;
  return last.status.startsWith('pending-')
    ? `another operation on release '${release}' is under way (revision ${last.revision} is ${last.status}), or ended half-way; if so, this mends it${mend}`
    : `revision ${last.revision} of release '${release}' is ${last.status}; nothing is built on that. This mends it${mend}`;
}
