import { describeError } from '../../runtime/wording/errors.ts';
import type { Archive } from './archives.ts';

/** The address of a folder with the archives. `off`: programs are built. */
export const MIRROR = 'LUMIGO_SANDBOX_MIRROR';

/** Returns the address of an archive. @throws Error with a sentence if the setting is invalid */
export function getAddress({ file, url }: Archive, mirror: string | undefined): URL {
  if (mirror === undefined || mirror === '') return new URL(url);
  const base = URL.canParse(mirror) ? new URL(mirror) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol) || base.username + base.password !== '')
    // The value may contain a password, so it is not shown.
    throw new Error(
      `${MIRROR} must be 'off' or a URL without credentials, such as https://mirror.example.com/archives`,
    );
  return new URL(file, base.href.replace(/\/*$/, '/'));
}

/** Without a network, this is all the time that is lost. */
const PATIENCE_MS = 2_000;

export async function unreachable(addresses: readonly URL[]): Promise<ReadonlyMap<string, string>> {
  const byHost = new Map(addresses.map((address) => [address.host, new URL('.', address)]));
  const answers = await Promise.all([...byHost].map(async ([host, url]) => [host, await whyNot(url)] as const));
  return new Map(answers.flatMap(([host, why]) => (why === undefined ? [] : [[host, why] as const])));
}

const whyNot = (url: URL): Promise<string | undefined> =>
  fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(PATIENCE_MS) }).then(
    () => undefined,
    describeError,
  );
