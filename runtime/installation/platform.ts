import { retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { ApiError, undefinedIf } from '../kubernetes/http/errors.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';

/** Every OpenShift cluster serves this group, and no other cluster does. */
const OPENSHIFT = '/apis/security.openshift.io';

/** Detects the platform with one request. Rejects without an answer. A refusal counts as plain Kubernetes. */
export async function withPlatform<C extends Pick<RuntimeConfig, 'platform'>>(
  config: C,
  transport: Transport,
): Promise<C> {
  if (config.platform !== 'auto') return config;
  const answer = await read(transport, OPENSHIFT);
  return { ...config, platform: answer === undefined ? 'kubernetes' : 'openshift' };
}

/** Resolves with undefined if the API server refuses. Rejects without an answer, and if it is overloaded. */
export const read = (transport: Transport, path: string) =>
  transport
    .request({ method: 'GET', path })
    .catch(undefinedIf((error) => error instanceof ApiError && error.status < 429));

/** Retries until the API server answers. Until then it calls no webhook either. */
export async function detectPlatform(
  config: RuntimeConfig,
  { transport, logger, signal }: Watching,
): Promise<RuntimeConfig> {
  const failure = 'cannot detect the platform, retrying';
  const known = await retrying(() => withPlatform(config, transport), { signal, logger, failure, maxMs: 1_000 });
  if (known === undefined) return config;
  logger.info({ platform: known.platform }, 'platform detected');
  return known;
}
