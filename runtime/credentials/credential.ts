import { describeError } from '../wording/errors.ts';
import type { LumigoResource, Problem } from '../api/lumigo.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { AnswerTooLargeError, isForbidden, isNotFound } from '../kubernetes/http/errors.ts';
import { toData } from '../kubernetes/resources/objects.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { CommandConfig } from '../config/config.ts';
import { isToken, tokenShape } from '../wording/token.ts';

const HINT = `a Lumigo token is ${tokenShape} (https://docs.lumigo.io/docs/lumigo-tokens)`;

export interface TokenSource {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** If it changes, a user may wait for the Secret, so it is read at once. */
  readonly revision?: string;
  /** The resourceVersion that the leader read, from the status of a `Lumigo`. */
  readonly announced?: string | undefined;
}

/** Name and key are empty if the `Lumigo` names none. */
export function toTokenSource({ metadata, spec, status }: LumigoResource): TokenSource {
  const { name = '', key = '' } = spec?.lumigoToken?.secretRef ?? {};
  const { namespace, uid, generation, labelsDigest } = metadata;
  const revision = JSON.stringify([uid, generation, labelsDigest]);
  return { namespace, name, key, revision, announced: status?.secretVersion };
}

/** Metrics of the cluster belong to no namespace, so they leave under the token of the settings. */
export function getInstallationSource(config: CommandConfig): TokenSource {
  return { namespace: config.operatorNamespace, name: config.tokenSecret, key: config.tokenKey };
}

/** Values are base64, by key. */
type SecretContent = Readonly<{ data: Readonly<Record<string, string>>; version: string }>;

export type ReadSecret = (namespace: string, name: string) => Promise<SecretContent>;

export const secretReader =
  (client: Client): ReadSecret =>
  async (namespace, name) => {
    const secret = await client.get({ ...kinds.secrets, namespace, name });
    return { data: toData(secret), version: secret.metadata.resourceVersion };
  };

export type Credential =
  | { readonly token: string; readonly version: string; readonly problem?: undefined }
  | { readonly token?: undefined; readonly version?: string; readonly problem: Problem };

const toWhere = ({ namespace, name }: TokenSource): string => `Secret '${namespace}/${name}'`;

const failed = (reason: Problem['reason'], message: string): Credential => ({ problem: { reason, message } });

export const nowhere: Credential = failed(
  'SecretReferenceMissing',
  'The field spec.lumigoToken.secretRef must name a Secret in this namespace (name) and a key in it (key)',
);

/** Each problem has its own reason. No message has any part of the value. Never throws: tenants write the Secret and name the key. */
export function credentialIn({ data, version }: SecretContent, place: TokenSource): Credential {
  const { key } = place;
  const where = toWhere(place);
  // A key such as `constructor` is inherited.
  const encoded: unknown = Object.hasOwn(data, key) ? data[key] : undefined;
  const refused = (reason: Problem['reason'], message: string): Credential => ({ ...failed(reason, message), version });
  if (encoded === undefined)
    return refused(
      'SecretKeyNotFound',
      `${where} has no key '${key}'; add your Lumigo token under this key, or name another key in spec.lumigoToken.secretRef.key`,
    );
  if (typeof encoded !== 'string') return credentialWithout('its data have another form', place);
  const token = Buffer.from(encoded, 'base64').toString('utf8');
  if (isToken(token)) return { token, version };
  const isPadded = isToken(token.trim());
  const fault = isPadded ? 'has white space around the token (often a line break at the end)' : 'is not a Lumigo token';
  return refused('TokenMalformed', `The value of '${key}' in ${where} ${fault}; ${HINT}`);
}

export function credentialWithout(error: unknown, place: TokenSource): Credential {
  const where = toWhere(place);
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
  const reason = error instanceof AnswerTooLargeError ? 'SecretTooLarge' : 'SecretUnreadable';
  return failed(reason, `${where} cannot be read: ${describeError(error)}`);
}

export const readCredential = (client: Client, place: TokenSource): Promise<Credential> =>
  secretReader(client)(place.namespace, place.name).then(
    (content) => credentialIn(content, place),
    (error: unknown) => credentialWithout(error, place),
  );

/** Returns true if the Secret is not read yet, or the API server did not answer, which is no reason to stop what works. */
export const isUnread = (credential: Credential | undefined): boolean =>
  credential === undefined || credential.problem?.reason === 'SecretUnreadable';
