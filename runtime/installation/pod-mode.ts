import type { RuntimeConfig } from '../config/config.ts';
import { podModeKubernetes } from '../contract.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';
import { askUntilAnswer } from './platform.ts';

interface Version {
  readonly major: string;
  /** Some distributions append a `+`. */
  readonly minor: string;
  readonly gitVersion: string;
}

export function whyTooOld({ major, minor, gitVersion }: Version): string | undefined {
  if (Number(major) > 1 || Number.parseInt(minor, 10) >= podModeKubernetes) return undefined;
  return `It needs Kubernetes 1.${podModeKubernetes} or newer, and the API server is ${gitVersion}. Upgrade the cluster`;
}

/** Returns why there is no Pod mode, and what to do; undefined if there is one. Retries until the API server answers. */
export async function detectPodMode({ podMode }: RuntimeConfig, watching: Watching) {
  if (!podMode) return "Set 'injection.podMode: true' of the operator";
  const version = await askUntilAnswer('/version', watching);
  return version === undefined ? undefined : whyTooOld(version as Version);
}
