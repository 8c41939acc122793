import { environment, injector, otlpPaths } from '../contract.ts';
import type { InjectionRecord } from './record.ts';
import type { EnvVar, VolumeMount } from './types.ts';

type Written = Pick<InjectionRecord, 'endpoint' | 'secretName' | 'secretKey' | 'traces' | 'logs'>;

/** The variables that tell the tracer what to do, as they are written into a container. */
export function tracerVariables(settings: Written, containerName: string): readonly EnvVar[] {
  const { endpoint, secretName, secretKey, traces, logs } = settings;
  return [
    {
      name: environment.token,
      // Optional, so that a pod starts even when the Secret is gone.
      valueFrom: { secretKeyRef: { name: secretName, key: secretKey, optional: true } },
    },
    { name: environment.endpoint, value: endpoint + otlpPaths.traces },
    { name: environment.logsEndpoint, value: endpoint + otlpPaths.logs },
    { name: environment.enableTraces, value: String(traces) },
    { name: environment.enableLogs, value: String(logs) },
    { name: environment.containerName, value: containerName },
  ];
}

/** The names of all variables that this operator, or the original one, writes. */
export const tracerVariableNames: ReadonlySet<string> = new Set([
  environment.token,
  environment.endpoint,
  environment.logsEndpoint,
  environment.enableTraces,
  environment.enableLogs,
  environment.containerName,
]);

export const injectorMount: VolumeMount = { name: injector.volume, mountPath: injector.mountPath, readOnly: true };
