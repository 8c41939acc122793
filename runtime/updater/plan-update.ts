import { compare, gt, major, rsort, satisfies, valid, validRange } from 'semver';

/** One revision of the release, as Helm remembers it. */
export interface Revision {
  readonly revision: number;
  /** `deployed`, `superseded`, `failed`, `pending-upgrade` … */
  readonly status: string;
  /** Of the chart; a semantic version. */
  readonly version: string;
}

interface Candidates {
  /** Versions of the chart in the repository, in any order. */
  readonly available: readonly string[];
  /** Which of them may be taken, as a semver range; empty: those of the installed major version. */
  readonly versions: string;
  /** What `helm upgrade` calls the chart. */
  readonly chart: string;
  readonly namespace: string;
}

interface UpdateInput extends Candidates {
  readonly release: string;
  /** Oldest first, and at least one. */
  readonly history: readonly Revision[];
}

interface CheckInput extends Candidates {
  readonly installed: string;
  /** Where Helm has installed it. */
  readonly release: string | undefined;
}

/** What to do, and why, in a sentence. */
interface UpdatePlan {
  /** `stay`: there is nothing to do. `refuse`: somebody has to look first. */
  readonly step: 'upgrade' | 'tell' | 'stay' | 'refuse';
  /** The newest version in the range, where it is newer than the installed one. */
  readonly newest?: string;
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
    return refuse(incomparable(`the version of release '${release}'`));
  if (last.status !== 'deployed') return refuse(notInOrder(input, last));
  const range = rangeOf(last.version, versions);
  if (range === undefined) return refuse(noRange(versions));
  const { newest, message } = newestOf(last.version, range, available);
  if (newest === undefined) return stay(message);
  const failed = history.find(({ version, status }) => status === 'failed' && compare(version, newest) === 0);
  if (failed === undefined) return { step: 'upgrade', newest, message };
  const byHand = `To try it yourself: ${upgradeCommand(input, release, newest)}`;
  const why = `${newest} failed before (revision ${failed.revision}), so the updater does not try it again, and keeps ${last.version}. ${byHand}`;
  return { ...stay(why), newest };
}

/** What to tell of a repository, where nothing is to be changed: the newest version within the range, and how it is brought. */
export function planCheck(input: CheckInput): UpdatePlan {
  const { installed, versions, available, release } = input;
  if (valid(installed) === null) return refuse(incomparable(`'${installed}', the operator's version,`));
  const range = rangeOf(installed, versions);
  if (range === undefined) return refuse(noRange(versions));
  const { newest, message } = newestOf(installed, range, available);
  if (newest === undefined) return stay(message);
  const how = release === undefined ? 'apply the manifests of that version' : upgradeCommand(input, release, newest);
  return { step: 'tell', newest, message: `${message}. To upgrade: ${how}` };
}

/** The range of versions that may be taken, in the form that npm and Helm both read; undefined: it is none. */
export const rangeOf = (installed: string, versions: string): string | undefined =>
  (valid(installed) === null ? null : validRange(versions === '' ? `${major(installed)}.x` : versions)) ?? undefined;

const stay = (message: string): UpdatePlan => ({ step: 'stay', message });
const refuse = (message: string): UpdatePlan => ({ step: 'refuse', message });
const incomparable = (what: string): string =>
  `${what} is not a semantic version, so the updater cannot compare it with other versions`;
const noRange = (versions: string): string =>
  `'${versions}' is not a range of semantic versions, such as ^1.2.0 or '>=1.2 <3'`;

const upgradeCommand = ({ chart, namespace }: Candidates, release: string, version: string): string =>
  `helm upgrade ${release} ${chart} --version ${version} --namespace ${namespace} --reset-then-reuse-values`;

function newestOf(installed: string, range: string, available: readonly string[]) {
  const newer = rsort(available.filter((version) => valid(version) !== null && gt(version, installed)));
  const newest = newer.find((version) => satisfies(version, range));
  if (newest !== undefined) return { newest, message: `${newest} is newer than ${installed} and within ${range}` };
  const [beyond] = newer;
  const more = beyond === undefined ? '' : `. The repository also has ${beyond}, which is outside this range`;
  return { message: `${installed} is installed. There is no newer version within ${range}${more}` };
}

function notInOrder({ release, namespace, history }: UpdateInput, last: Revision): string {
  const good = history.findLast(({ status }) => status === 'superseded' || status === 'deployed');
  const repair =
    good === undefined
      ? 'repair the release'
      : `run: helm rollback ${release} ${good.revision} --namespace ${namespace}`;
  return last.status.startsWith('pending-')
    ? `another operation on release '${release}' is under way (revision ${last.revision} is ${last.status}). If it was interrupted, ${repair}`
    : `revision ${last.revision} of release '${release}' is ${last.status}, so the updater does not upgrade it. To continue, ${repair}`;
}
