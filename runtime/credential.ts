import { describeError } from './errors.ts';
import { isForbidden, isNotFound } from './kubernetes/errors.ts';
import type { Problem } from './problem.ts';
import { isToken, tokenShape } from './token.ts';

const HINT = `a Lumigo token is ${tokenShape} (https://docs.lumigo.io/docs/lumigo-tokens)`;

/** Reads one Secret's data (base64 by key), or rejects as the API server answered. */
export type ReadSecret = (namespace: string, name: string) => Promise<Readonly<Record<string, string>>>;

/** Where a token stands: a Secret of the namespace and a key in it. */
export interface SecretReference {
  readonly name?: string;
  readonly key?: string;
}

/** Either a token of the right shape, or what is wrong with it. */
export type Credential =
  { readonly token: string; readonly problem?: undefined } | { readonly token?: undefined; readonly problem: Problem };

/**
 * Reads a token and checks its shape. Each cause of failure has a reason of its own; no message holds any part of the
 * value.
 */
export async function readCredential(
  read: ReadSecret,
  namespace: string,
  { name = '', key = '' }: SecretReference = {},
): Promise<Credential> {
  if (name === '' || key === '')
    return failed(
      'SecretReferenceMissing',
      'spec.lumigoToken.secretRef must name a Secret of this namespace (name) and a key in it (key)',
    );
  const where = `Secret '${namespace}/${name}'`;
  try {
    const data = await read(namespace, name);
    return readToken(data[key], key, where);
  } catch (error) {
    if (isNotFound(error))
      return failed(
        'SecretNotFound',
        `${where} does not exist; create it with your Lumigo token under the key '${key}'`,
      );
    if (isForbidden(error))
      return failed(
        'SecretForbidden',
        `the operator is not allowed to read ${where}; its ServiceAccount needs the verb 'get' on Secrets there`,
      );
    return failed('SecretUnreadable', `${where} cannot be read: ${describeError(error)}`);
  }
}

const failed = (reason: string, message: string): Credential => ({ problem: { reason, message } });

function readToken(encoded: string | undefined, key: string, where: string): Credential {
  if (encoded === undefined)
    return failed(
      'SecretKeyNotFound',
      `${where} has no key '${key}'; put your Lumigo token there, or name another key in spec.lumigoToken.secretRef.key`,
    );
  const token = Buffer.from(encoded, 'base64').toString('utf8');
  if (isToken(token)) return { token };
  if (isToken(token.trim()))
    return failed(
      'TokenMalformed',
      `the value of '${key}' in ${where} has white space around the token (often a line break at the end); ${HINT}`,
    );
  return failed('TokenMalformed', `the value of '${key}' in ${where} is no Lumigo token; ${HINT}`);
}
