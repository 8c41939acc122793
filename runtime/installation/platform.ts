import { retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { ApiError, undefinedIf } from '../kubernetes/http/errors.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';

/** Every OpenShift cluster serves this group, and no other cluster does. */
const OPENSHIFT = '/apis/security.openshift.io';

/** Detects the platform with one request. Rejects without an answer. A refusal counts as plain Kubernetes. */
export async function withPlatform<C extends Pick<RuntimeConfig, 'platform'>>(config: C, transport: Transport) {
  if (config.platform !== 'auto') return config;
  return { ...config, platform: (await ask(transport, OPENSHIFT)) === undefined ? 'kubernetes' : 'openshift' };
}

const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status < 429;

/** Returns the answer to a GET; undefined after a refusal. */
export const ask = async (transport: Transport, path: string): Promise<unknown> =>
  (await transport.request({ method: 'GET', path }).catch(undefinedIf(isRefused)))?.body;

/** Retries until the API server answers. Until then it calls no webhook either. */
export async function detectPlatform(config: RuntimeConfig, { transport, logger, signal }: Watching) {
  const failure = 'cannot detect the platform, retrying';
  const known = await retrying(() => withPlatform(config, transport), { signal, logger, failure, maxMs: 1_000 });
  if (known === undefined) return config;
  logger.info({ platform: known.platform }, 'platform detected');
  return known;
}
