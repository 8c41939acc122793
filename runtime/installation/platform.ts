import { retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { podModeKubernetes } from '../contract.ts';
import { ApiError, isNotFound, undefinedIf } from '../kubernetes/http/errors.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';

/** Every OpenShift cluster serves this group, and no other cluster does. */
const OPENSHIFT = '/apis/security.openshift.io';

const toPlatform = (answer: unknown) => (answer === undefined ? 'kubernetes' : 'openshift');

/** Detects the platform with one request. Rejects without an answer. A refusal counts as plain Kubernetes. */
export async function withPlatform<C extends Pick<RuntimeConfig, 'platform'>>(config: C, transport: Transport) {
  return config.platform === 'auto' ? { ...config, platform: toPlatform(await ask(transport, OPENSHIFT)) } : config;
}

const isRefused = (error: unknown): boolean => error instanceof ApiError && error.status < 429;

/** Returns the answer to a GET; undefined after a refusal that counts. */
const ask = async (transport: Transport, path: string, counts = isRefused): Promise<unknown> =>
  (await transport.request({ method: 'GET', path }).catch(undefinedIf(counts)))?.body;

/** An API server that has just started refuses everything for a moment. If it always does, a start takes 30 s longer. */
const REFUSALS = 40;

/** Returns which refusals count for a manager, which keeps the answer: "not found", and those that last. */
export function lastingRefusals() {
  let refusals = 0;
  return (error: unknown): boolean => isNotFound(error) || (isRefused(error) && (refusals += 1) > REFUSALS);
}

/** Retries until the API server answers. Until then it calls no webhook either. */
function askUntilAnswer(path: string, { transport, logger, signal }: Watching): Promise<unknown> {
  const counts = lastingRefusals();
  const failure = 'cannot ask the API server, retrying';
  return retrying(() => ask(transport, path, counts), { signal, logger, failure, fields: { path }, maxMs: 1_000 });
}

export async function detectPlatform(config: RuntimeConfig, watching: Watching): Promise<RuntimeConfig> {
  if (config.platform !== 'auto') return config;
  const platform = toPlatform(await askUntilAnswer(OPENSHIFT, watching));
  if (!watching.signal.aborted) watching.logger.info({ platform }, 'platform detected');
  return { ...config, platform };
}

interface Version {
  readonly major: string;
  /** Some distributions append a `+`. */
  readonly minor: string;
  readonly gitVersion: string;
}

export function whyTooOld({ major, minor, gitVersion }: Version): string | undefined {
  if (Number(major) > 1 || Number.parseInt(minor, 10) >= podModeKubernetes) return undefined;
  return `It needs Kubernetes 1.${podModeKubernetes} or newer, and the API server is ${gitVersion}. Upgrade the cluster and restart the operator`;
}

/** Returns why there is no Pod mode, and what to do; undefined if there is one. Retries until the API server answers. */
export async function detectPodMode({ podMode }: RuntimeConfig, watching: Watching) {
  if (!podMode) return "Set 'injection.podMode: true' of the operator";
  const version = await askUntilAnswer('/version', watching);
  return version === undefined ? undefined : whyTooOld(version as Version);
}
