import fc from 'fast-check';
import { annotations } from '../../../runtime/contract.ts';
import type { Metadata, PodSpec, PodTemplate, Workload } from '../../../runtime/api/objects.ts';
import { onWindows, podTemplate } from './pod-template.ts';

/** Pods that a user creates, derived from the pod templates, with the fields that Pod mode reads. */

type Change = (template: PodTemplate) => PodTemplate;

const withSpec =
  (more: Partial<PodSpec>): Change =>
  ({ spec, ...rest }) => ({ ...rest, spec: { ...spec, ...more } });

const withAnnotation =
  (key: string, value: (names: readonly string[]) => string): Change =>
  ({ metadata = {}, spec }) => {
    const text = value(spec.containers.map(({ name }) => name));
    return { metadata: { ...metadata, annotations: { ...metadata.annotations, [key]: text } } as Metadata, spec };
  };

const withLastNamed =
  (name: string): Change =>
  ({ spec, ...rest }) => {
    const containers = spec.containers.map((each, index) =>
      index === spec.containers.length - 1 ? { ...each, name } : each,
    );
    return { ...rest, spec: { ...spec, containers } };
  };

/** The first container mounts it. */
const withVolume =
  (name: string): Change =>
  ({ spec, ...rest }) => {
    const containers = spec.containers.map((each, index) =>
      index === 0 ? { ...each, volumeMounts: [...(each.volumeMounts ?? []), { name, mountPath: '/agent' }] } : each,
    );
    return { ...rest, spec: { ...spec, containers, volumes: [...(spec.volumes ?? []), { name, emptyDir: {} }] } };
  };

const term = (key: string, operator: string, ...values: readonly string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length === 0 ? {} : { values }) }],
});
const required = (...nodeSelectorTerms: readonly object[]) =>
  withSpec({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  } as unknown as Partial<PodSpec>);

const arch = 'kubernetes.io/arch';
const os = 'kubernetes.io/os';

const changes: readonly Change[] = [
  onWindows,
  withSpec({ nodeSelector: { [os]: 'windows' } }),
  withSpec({ nodeSelector: { [arch]: 's390x' } }),
  withSpec({ nodeSelector: { [`beta.${arch}`]: 'arm64', [os]: 'linux' } }),
  required(term(arch, 'In', 's390x')),
  required(term(arch, 'In', 's390x', 'arm64')),
  required(term(arch, 'In', 's390x'), term(os, 'NotIn', 'windows')),
  required(term(os, 'NotIn', 'linux')),
  required(term(arch, 'NotIn', 'amd64', 'arm64'), term(arch, 'Exists')),
  withLastNamed('istio-proxy'),
  withLastNamed('own-sidecar'),
  withAnnotation(annotations.injectContainers, ([first = '']) => first),
  withAnnotation(annotations.injectContainers, (names) => ` ${names.join(' , ')},istio-proxy,`),
  withAnnotation(annotations.injectContainers, () => ' , '),
  withAnnotation(annotations.injectContainers, () => 'nobody'),
  withAnnotation('instrumentation.opentelemetry.io/inject-java', () => 'true'),
  withAnnotation('oneagent.dynatrace.com/inject', () => 'False'),
  withVolume('datadog-auto-instrumentation'),
  withAnnotation(annotations.excludeContainers, ([first = '']) => `${first}, other`),
  withAnnotation(annotations.excludeContainers, (names) => names.join(',')),
];

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Change>((template) => template) },
  { weight: 2, arbitrary: fc.constantFrom(...changes) },
);

/** The pod has no token of an account, because its volume has a different name each time. */
export const pod = (name: string): fc.Arbitrary<Workload> =>
  fc.tuple(podTemplate(), change, change).map(([template, first, second]) => {
    const { metadata, spec } = second(first(template));
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, name },
      spec: { ...spec, automountServiceAccountToken: false },
    };
  });
