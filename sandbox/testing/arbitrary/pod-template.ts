import fc from 'fast-check';
import { annotations, labels } from '../../../runtime/contract.ts';
import {
  container,
  initContainer,
  maybe,
  merged,
  nothing,
  perhaps,
  rarely,
  shown,
  text,
  word,
  type ContainerOptions,
  type Fields,
} from './container.ts';
import type { PodTemplate } from '../../../runtime/api/objects.ts';

/** Valid pod templates as the API server returns them: without empty lists and maps. Each shape that the injection distinguishes occurs. */
export interface PodTemplateOptions {
  /** Unknown fields at every level, ephemeral containers, and metadata without labels: for pure tests only. */
  readonly unknownFields?: boolean;
  /** `Never` for Jobs and CronJobs, `Always` for the rest. */
  readonly restartPolicy?: 'Always' | 'Never';
}

const podSecurity = fc.constantFrom<Fields>(
  {},
  { runAsUser: 0 },
  { runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000 },
  { fsGroup: 0 },
  { fsGroup: 3000, runAsNonRoot: true },
  { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, runAsUser: 4000 },
  {
    supplementalGroups: [5],
    fsGroupChangePolicy: 'OnRootMismatch',
    sysctls: [{ name: 'kernel.shm_rmid_forced', value: '0' }],
  },
);

const volumeSource = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<Fields>({ emptyDir: {} }, { emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Fields>(
      { configMap: { name: 'settings', defaultMode: 420 } },
      { secret: { secretName: 'secrets', defaultMode: 420 } },
      { persistentVolumeClaim: { claimName: 'data' } },
    ),
  },
);

/** Resources of the pod as a whole, which are large enough for every container. */
const amount = { cpu: '16', memory: '16Gi' };
const podLevel = fc.constantFrom<Fields>(
  { limits: amount, requests: amount },
  { requests: amount },
  { limits: amount },
);

const podResources = fc.oneof(
  { weight: 7, arbitrary: nothing },
  { weight: 1, arbitrary: podLevel.map((found) => ({ resources: found })) },
);

const podAnnotations = merged(
  maybe('constructor', text),
  maybe(
    annotations.safeToEvict,
    fc.constantFrom('', ',', 'cache', 'a,b', ' a , b ', 'lumigo-injector', 'a,lumigo-injector', 'lumigo-injector,a'),
  ),
);

const podLabels = maybe(labels.autoTrace, fc.constantFrom('true', 'false', 'maybe', '', 'lumigo-operator.v0.9.0'));

/** Most pods do not name the containers to inject. Init containers are injected only by name. */
const namesOf = (containers: readonly string[]): fc.Arbitrary<Fields> =>
  fc.oneof(
    { weight: 5, arbitrary: nothing },
    {
      weight: 1,
      arbitrary: fc
        .subarray([...containers], { minLength: 1 })
        .map((named) => ({ [annotations.injectContainers]: named.join(',') })),
    },
  );

function podMetadata(containers: readonly string[], unknown: fc.Arbitrary<Fields>): fc.Arbitrary<Fields> {
  const usual = fc
    .tuple(podLabels, merged(podAnnotations, namesOf(containers)), unknown)
    .map(([ownLabels, ownAnnotations, more]) => ({
      metadata: { ...shown({ annotations: ownAnnotations }), labels: { app: 'app', ...ownLabels }, ...more },
    }));
  if (unknown === nothing) return usual;
  const bare = fc.constantFrom<Fields>({}, { metadata: {} }, { metadata: { creationTimestamp: null } });
  return fc.oneof({ weight: 6, arbitrary: usual }, { weight: 1, arbitrary: bare });
}

const namesBetween = (minLength: number, maxLength: number, ...unusual: readonly string[]) =>
  fc.uniqueArray(rarely(fc.constantFrom('lumigo-injector', ...unusual), word), { minLength, maxLength });

function podSpec(
  { apps, inits, ...asked }: ContainerOptions & { readonly apps: readonly string[]; readonly inits: readonly string[] },
  restartPolicy: string,
): fc.Arbitrary<Fields> {
  const { volumes, unknown } = asked;
  return merged(
    fc.tuple(...apps.map((name) => container(name, asked))).map((containers) => ({ containers })),
    fc.tuple(...inits.map((name) => initContainer(name, asked))).map((initContainers) => shown({ initContainers })),
    fc
      .tuple(...volumes.map((name) => merged(fc.constant({ name }), volumeSource, unknown)))
      .map((found) => shown({ volumes: found })),
    podSecurity.map((securityContext) => ({ securityContext })),
    maybe('imagePullSecrets', fc.constantFrom([{ name: 'mine' }], [{ name: 'mine' }, { name: 'shared' }])),
    maybe('hostNetwork', fc.constant(true)),
    podResources,
    maybe('nodeSelector', fc.constant({ 'kubernetes.io/arch': 'amd64' })),
    maybe('os', fc.constant({ name: 'linux' })),
    unknown === nothing ? nothing : maybe('ephemeralContainers', fc.constant([{ name: 'debug', image: 'debug:1' }])),
    unknown,
    fc.constant({
      restartPolicy,
      dnsPolicy: 'ClusterFirst',
      schedulerName: 'default-scheduler',
      terminationGracePeriodSeconds: 30,
    }),
  );
}

/** The labels include `app: app`, which selectors need. */
export function podTemplate({
  unknownFields = false,
  restartPolicy = 'Always',
}: PodTemplateOptions = {}): fc.Arbitrary<PodTemplate> {
  const asks = fc.constantFrom<ContainerOptions['asks']>('any', 'any', 'all', 'nothing');
  const unknown = unknownFields ? perhaps : nothing;
  const containerNames = namesBetween(2, 4, ...(unknownFields ? ['__proto__'] : []));
  return fc
    .tuple(namesBetween(0, 3), containerNames, fc.integer({ min: 0, max: 2 }), asks)
    .chain(([volumes, all, count, asked]) => {
      const inits = all.slice(0, Math.min(count, all.length - 1));
      const spec = podSpec({ apps: all.slice(inits.length), inits, volumes, asks: asked, unknown }, restartPolicy);
      return merged(
        podMetadata(all, unknown),
        spec.map((found) => ({ spec: found })),
        unknown,
      ) as fc.Arbitrary<unknown> as fc.Arbitrary<PodTemplate>;
    });
}

/** Returns the pod for Windows nodes, which accept none of the settings for Linux. */
export function onWindows({ spec, ...rest }: PodTemplate): PodTemplate {
  const { hostNetwork: _network, initContainers, ...others } = spec;
  const plain = (containers: PodTemplate['spec']['containers']) =>
    containers.map(({ securityContext: _context, ...found }) => found as typeof found & { readonly name: string });
  return {
    ...rest,
    spec: {
      ...others,
      os: { name: 'windows' },
      securityContext: {},
      containers: plain(spec.containers),
      ...(initContainers === undefined ? {} : { initContainers: plain(initContainers) }),
    },
  };
}
