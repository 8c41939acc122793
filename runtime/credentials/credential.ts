import { describeError } from '../wording/errors.ts';
import type { LumigoResource, Problem } from '../injection/types.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isForbidden, isNotFound } from '../kubernetes/http/errors.ts';
import { dataOf } from '../kubernetes/resources/objects.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { isToken, tokenShape } from '../wording/token.ts';

const HINT = `a Lumigo token is ${tokenShape} (https://docs.lumigo.io/docs/lumigo-tokens)`;

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
  const { namespace, uid, generation, labelsDigest } = metadata;
  const revision = JSON.stringify([uid, generation, labelsDigest]);
  return { namespace, name, key, revision, announced: status?.secretVersion };
}

/** A Secret as it was read: its data (base64 by key) and its resourceVersion. */
interface SecretContent {
  readonly data: Readonly<Record<string, string>>;
  readonly version: string;
}

/** Reads one Secret, or rejects as the API server answered. */
export type ReadSecret = (namespace: string, name: string) => Promise<SecretContent>;

export const secretReader =
  (client: Client): ReadSecret =>
  async (namespace, name) => {
    const secret = await client.get({ ...kinds.secrets, namespace, name });
    return { data: dataOf(secret), version: secret.metadata.resourceVersion };
  };

/** Either a token of the right shape, or what is wrong with it; and the resourceVersion of the Secret, if there is one. */
export type Credential =
  | { readonly token: string; readonly version: string; readonly problem?: undefined }
  | { readonly token?: undefined; readonly version?: string; readonly problem: Problem };

type Place = Pick<TokenSource, 'namespace' | 'name' | 'key'>;

const whereOf = ({ namespace, name }: Place): string => `Secret '${namespace}/${name}'`;

const failed = (reason: string, message: string): Credential => ({ problem: { reason, message } });

export const nowhere: Credential = failed(
  'SecretReferenceMissing',
  'The field spec.lumigoToken.secretRef must name a Secret in this namespace (name) and a key in it (key)',
);

/** What an answer of the API server means for one key. Each cause has a reason of its own; no message holds any part of the value. */
export function credentialIn({ data, version }: SecretContent, place: Place): Credential {
  const { key } = place;
  const where = whereOf(place);
  const encoded = data[key];
  const refused = (reason: string, message: string): Credential => ({ ...failed(reason, message), version });
  if (encoded === undefined)
    return refused(
      'SecretKeyNotFound',
      `${where} has no key '${key}'; add your Lumigo token under this key, or name another key in spec.lumigoToken.secretRef.key`,
    );
  const token = Buffer.from(encoded, 'base64').toString('utf8');
  if (isToken(token)) return { token, version };
  if (isToken(token.trim()))
    return refused(
      'TokenMalformed',
      `The value of '${key}' in ${where} has white space around the token (often a line break at the end); ${HINT}`,
    );
  return refused('TokenMalformed', `The value of '${key}' in ${where} is not a Lumigo token; ${HINT}`);
}

/** What it means that a Secret could not be read. */
export function credentialWithout(error: unknown, place: Place): Credential {
  const where = whereOf(place);
  if (isNotFound(error))
    return failed(
      'SecretNotFound',
      `${where} does not exist; create it, with your Lumigo token under the key '${place.key}'`,
    );
  if (isForbidden(error))
    return failed(
      'SecretForbidden',
      `The operator is not allowed to read ${where}; its ServiceAccount needs the verb 'get' on Secrets in this namespace`,
    );
  return failed(UNREADABLE, `${where} cannot be read: ${describeError(error)}`);
}

const UNREADABLE = 'SecretUnreadable';

/** Nothing is known of the Secret, since the API server does not say: no reason to give up what is at work. */
export const isUnreadable = ({ problem }: Credential): boolean => problem?.reason === UNREADABLE;
