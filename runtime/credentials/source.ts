import type { LumigoResource } from '../injection/types.ts';

/** Where a token stands, and what may tell that it is another one there now. */
export interface TokenSource {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** Once it differs from before, somebody may wait for the Secret: it is read at once. */
  readonly revision?: string;
  /** The resourceVersion of the Secret that the leader has read last, as it says in the status of a Lumigo. */
  readonly announced?: string | undefined;
}

/** Where the token of a Lumigo stands; name and key are empty where it names none. */
export function sourceOf({ metadata, spec, status }: LumigoResource): TokenSource {
  const { name = '', key = '' } = spec?.lumigoToken?.secretRef ?? {};
  const { namespace, uid, generation, labels, annotations } = metadata;
  const revision = JSON.stringify([uid, generation, labels, annotations]);
  return { namespace, name, key, revision, announced: status?.secretVersion };
}
