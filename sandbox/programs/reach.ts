import { describeError } from '../../runtime/wording/errors.ts';

/** Where there is no network this is all the time that is lost. */
const PATIENCE_MS = 2_000;

/** The hosts of some addresses that answer nothing at all, with the reason of each; all are asked at the same time. */
export async function unreachable(addresses: readonly URL[]): Promise<ReadonlyMap<string, string>> {
  const byHost = new Map(addresses.map((address) => [address.host, new URL('.', address)]));
  const answers = await Promise.all([...byHost].map(async ([host, url]) => [host, await whyNot(url)] as const));
  return new Map(answers.flatMap(([host, why]) => (why === undefined ? [] : [[host, why] as const])));
}

async function whyNot(url: URL): Promise<string | undefined> {
  try {
    await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) });
    return undefined;
  } catch (error) {
    return describeError(error);
  }
}
