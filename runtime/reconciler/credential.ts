import { describeError } from '../errors.ts';
import type { LumigoSpec } from '../injection/types.ts';
import { isForbidden, isNotFound } from '../kubernetes/errors.ts';
import type { Problem } from './conditions.ts';

/** The shape of a Lumigo token: the whole value, nothing around it. */
const TOKEN = /^t_[0-9a-fA-F]{21}$/;
const HINT = 'a Lumigo token is "t_" and 21 hexadecimal characters (https://docs.lumigo.io/docs/lumigo-tokens)';

/** Reads one Secret's data (base64 by key), or rejects as the API server answered. */
export type ReadSecret = (namespace: string, name: string) => Promise<Readonly<Record<string, string>>>;

/**
 * Checks that a Lumigo's token is there and has the right shape. Each cause has a reason of its own; no message holds
 * any part of the value.
 */
export async function checkCredential(
  read: ReadSecret,
  namespace: string,
  spec: LumigoSpec | undefined,
): Promise<Problem | undefined> {
  const { name, key } = spec?.lumigoToken?.secretRef ?? {};
  if (!name || !key)
    return {
      reason: 'SecretReferenceMissing',
      message: 'spec.lumigoToken.secretRef must name a Secret of this namespace (name) and a key in it (key)',
    };
  const where = `Secret '${namespace}/${name}'`;
  try {
    const data = await read(namespace, name);
    return checkToken(data[key], key, where);
  } catch (error) {
    if (isNotFound(error))
      return {
        reason: 'SecretNotFound',
        message: `${where} does not exist; create it with your Lumigo token under the key '${key}'`,
      };
    if (isForbidden(error))
      return {
        reason: 'SecretForbidden',
        message: `the operator is not allowed to read ${where}; its ServiceAccount needs the verb 'get' on Secrets there`,
      };
    return { reason: 'SecretUnreadable', message: `${where} cannot be read: ${describeError(error)}` };
  }
}

function checkToken(encoded: string | undefined, key: string, where: string): Problem | undefined {
  if (encoded === undefined)
    return {
      reason: 'SecretKeyNotFound',
      message: `${where} has no key '${key}'; put your Lumigo token there, or name another key in spec.lumigoToken.secretRef.key`,
    };
  const token = Buffer.from(encoded, 'base64').toString('utf8');
  if (TOKEN.test(token)) return undefined;
  if (TOKEN.test(token.trim()))
    return {
      reason: 'TokenMalformed',
      message: `the value of '${key}' in ${where} has white space around the token (often a line break at the end); ${HINT}`,
    };
  return { reason: 'TokenMalformed', message: `the value of '${key}' in ${where} is no Lumigo token; ${HINT}` };
}
