import { isPlainObject } from '../../runtime/json/values.ts';
import type { Container, EnvVar, PodTemplate, Workload } from '../../runtime/api/objects.ts';
import { toTemplate, withTemplate } from '../../runtime/injection/workload.ts';
import { recordedVersion } from './recorded.ts';

/** The original operator labels instrumented workloads with this value. */
export const originalLabel = `lumigo-operator.v${recordedVersion}`;

const defaults = {
  image: `public.ecr.aws/lumigo/lumigo-autotrace:v${recordedVersion}`,
  endpoint: 'http://lumigo-lumigo-operator-telemetry-proxy-service.lumigo-system.svc.cluster.local',
  secretName: 'lumigo-credentials',
  logs: false,
};
/** The original leaves the policy to the API server, which derives it from the image's tag. */
type InjectionOptions = typeof defaults & { readonly imagePullPolicy?: string };

/** Returns a workload as the original operator (v69) leaves it: instrumented and labelled, without its original state. */
export function instrumentedByOriginal(workload: Workload, options: Partial<InjectionOptions> = {}): Workload {
  const template = toTemplate(workload);
  if (template === undefined) throw new Error(`${workload.kind} has no pod template`);
  const { metadata } = workload;
  const injected = withTemplate(workload, injectedByOriginal(template, { ...defaults, ...options }));
  return { ...injected, metadata: { ...metadata, labels: { ...metadata.labels, 'lumigo.auto-trace': originalLabel } } };
}

function injectedByOriginal(template: PodTemplate, options: InjectionOptions): PodTemplate {
  const { metadata, spec } = template;
  const { initContainers = [], containers, volumes = [], securityContext } = spec;
  const { fsGroup, runAsNonRoot } = isPlainObject(securityContext) ? securityContext : {};
  const user = typeof fsGroup === 'number' ? fsGroup : 1234;
  const own = {
    name: 'lumigo-injector',
    image: options.image,
    ...(options.imagePullPolicy === undefined ? {} : { imagePullPolicy: options.imagePullPolicy }),
    env: [{ name: 'TARGET_DIRECTORY', value: '/target' }],
    volumeMounts: [{ name: 'lumigo-injector', mountPath: '/target' }],
    securityContext: {
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      ...(runAsNonRoot === undefined ? {} : { runAsNonRoot }),
      runAsUser: user,
      runAsGroup: user,
    },
  } as unknown as Container;
  return {
    ...template,
    metadata: { ...metadata, labels: { ...metadata?.labels, 'lumigo.auto-trace': originalLabel } },
    spec: {
      ...spec,
      initContainers: [...initContainers, own],
      containers: containers.map((container) => ({
        ...container,
        env: [...(container.env ?? []), ...variables(container.name, options)],
        volumeMounts: [
          ...(container.volumeMounts ?? []),
          { name: 'lumigo-injector', mountPath: '/opt/lumigo', readOnly: true },
        ],
      })),
      volumes: [...volumes, { name: 'lumigo-injector', emptyDir: { sizeLimit: '200M' } }],
    },
  };
}

const variables = (container: string, { endpoint, secretName, logs }: InjectionOptions): readonly EnvVar[] => [
  { name: 'LD_PRELOAD', value: '/opt/lumigo/injector/lumigo_injector.so' },
  {
    name: 'LUMIGO_TRACER_TOKEN',
    valueFrom: { secretKeyRef: { name: secretName, key: 'token', optional: true } },
  },
  { name: 'LUMIGO_ENDPOINT', value: `${endpoint}/v1/traces` },
  { name: 'LUMIGO_LOGS_ENDPOINT', value: `${endpoint}/v1/logs` },
  { name: 'LUMIGO_ENABLE_LOGS', value: String(logs) },
  { name: 'LUMIGO_ENABLE_TRACES', value: 'true' },
  { name: 'LUMIGO_CONTAINER_NAME', value: container },
];
