import type { V1PodSecurityContext, V1Probe, V1SecurityContext } from '@kubernetes/client-node';

/**
 * What the `restricted` Pod Security Standard asks of a pod. No user is pinned: the images carry a numeric one, and
 * OpenShift assigns its own.
 */
export const podSecurity: V1PodSecurityContext = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

/** What it asks of a container; that nothing is written into the image's layers is our own wish. */
export const containerSecurity: V1SecurityContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

export interface Probes {
  readonly startupProbe: V1Probe;
  readonly livenessProbe: V1Probe;
  readonly readinessProbe: V1Probe;
}

/** Up to a minute to start; then out of service after 15 seconds of silence, and restarted after one minute. */
export function probes(port: string, live: string, ready: string): Probes {
  return {
    startupProbe: { httpGet: { path: live, port }, periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { httpGet: { path: live, port }, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: ready, port }, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
  };
}
