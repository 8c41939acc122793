import fc from 'fast-check';
import { annotations, labels } from '../contract.ts';
import type { Container, PodTemplate } from './types.ts';

/**
 * Pod templates that an API server accepts, in the form in which it gives them back: no empty list or map where it shows
 * none. They are as odd as users' are: every shape that the injection treats in its own way is among them.
 */
export interface PodTemplateOptions {
  /** Fields that no schema knows, at every level, and ephemeral containers: for pure tests only. */
  readonly unknownFields?: boolean;
  /** `Never` for Jobs and CronJobs, `Always` for the rest. */
  readonly restartPolicy?: 'Always' | 'Never';
}

type Fields = Readonly<Record<string, unknown>>;

/** Leaves a key out half of the time, as the API server leaves out what is not set. */
const maybe = <T>(key: string, value: fc.Arbitrary<T>): fc.Arbitrary<Fields> =>
  fc.option(value, { nil: undefined }).map((found) => (found === undefined ? {} : { [key]: found }));

const merged = (...parts: readonly fc.Arbitrary<Fields>[]): fc.Arbitrary<Fields> =>
  fc.tuple(...parts).map((found) => Object.assign({}, ...found) as Fields);

const word = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const text = fc.stringMatching(/^[ -~]{1,12}$/);

const valueFrom = fc.oneof(
  fc.record({ secretKeyRef: fc.record({ name: word, key: word }) }),
  fc.record({ configMapKeyRef: fc.record({ name: word, key: word, optional: fc.boolean() }) }),
  fc.constant({ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }),
  fc.constant({ resourceFieldRef: { resource: 'limits.cpu', divisor: '0' } }),
);

const preload = fc.oneof(
  fc.constantFrom<Fields>(
    {},
    { value: '/usr/lib/libjemalloc.so.2' },
    { value: '/a.so:/b.so' },
    { value: '/a.so /b.so' },
    { value: '/opt/lumigo/injector/lumigo_injector.so' },
    { value: '/a.so:/opt/lumigo/injector/lumigo_injector.so' },
    { value: ':' },
  ),
  valueFrom.map((from) => ({ valueFrom: from })),
);

const tracerNames = [
  'LUMIGO_TRACER_TOKEN',
  'LUMIGO_ENDPOINT',
  'LUMIGO_LOGS_ENDPOINT',
  'LUMIGO_ENABLE_TRACES',
  'LUMIGO_CONTAINER_NAME',
];
const anyValue = fc.oneof(
  fc.constant<Fields>({}),
  text.map((value) => ({ value })),
  valueFrom.map((from) => ({ valueFrom: from })),
);

const variable = fc
  .oneof(
    { weight: 4, arbitrary: fc.tuple(fc.stringMatching(/^[A-Z][A-Z_]{0,5}$/), anyValue) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('LD_PRELOAD'), preload) },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...tracerNames), anyValue) },
  )
  .map(([name, rest]) => ({ name, ...rest }));

/** Of every resource nothing, a request, a limit or both; a limit is never below its request. */
const share = (resource: string, small: string, large: string) =>
  fc.constantFrom<readonly [Fields, Fields]>(
    [{}, {}],
    [{ [resource]: small }, {}],
    [{ [resource]: small }, { [resource]: small }],
    [{ [resource]: small }, { [resource]: large }],
    [{ [resource]: large }, { [resource]: large }],
  );

const shown = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value as object).length > 0));

const resources = fc
  .tuple(share('cpu', '100m', '2'), share('memory', '64Mi', '1Gi'), share('ephemeral-storage', '100M', '2Gi'))
  .map(([cpu, memory, storage]) =>
    shown({ limits: { ...cpu[1], ...memory[1], ...storage[1] }, requests: { ...cpu[0], ...memory[0], ...storage[0] } }),
  );

const containerSecurity = fc.constantFrom<Fields>(
  { runAsUser: 0 },
  { runAsNonRoot: true, runAsUser: 1000 },
  { privileged: true },
  { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  },
);

const podSecurity = fc.constantFrom<Fields>(
  {},
  { runAsUser: 0 },
  { runAsUser: 1000, runAsGroup: 1000, fsGroup: 2000 },
  { fsGroup: 0 },
  { fsGroup: 3000, runAsNonRoot: true },
  { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, runAsUser: 4000 },
  { supplementalGroups: [5] },
);

const mountPath = fc.oneof(
  { weight: 6, arbitrary: word.map((name) => `/data/${name}`) },
  { weight: 1, arbitrary: fc.constantFrom('/opt/lumigo', '/opt/lumigo/config', '/opt/lumigo2') },
);

const unknown = fc.record({
  futureField: fc.record({ nested: fc.array(fc.integer(), { minLength: 1, maxLength: 2 }) }),
});

function container(name: string, volumes: readonly string[], options: PodTemplateOptions): fc.Arbitrary<Container> {
  const mounts = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom(...volumes, ...(volumes.length === 0 ? ['none'] : [])),
      mountPath,
      readOnly: fc.constant(true),
    }),
    {
      selector: (mount) => mount.mountPath,
      minLength: 1,
      maxLength: 3,
    },
  );
  return merged(
    fc.constant({ name, image: `${name}:1` }),
    maybe('env', fc.array(variable, { minLength: 1, maxLength: 5 })),
    maybe('envFrom', fc.constant([{ configMapRef: { name: 'settings', optional: true } }])),
    volumes.length === 0 ? fc.constant({}) : maybe('volumeMounts', mounts),
    fc.option(resources, { nil: {} }).map((found) => ({ resources: found })),
    maybe('securityContext', containerSecurity),
    options.unknownFields === true ? fc.option(unknown, { nil: {} }) : fc.constant({}),
    fc.constant({
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    }),
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<Container>;
}

/** Resources of the pod as a whole; large enough for every container. */
const podLevel = { limits: { cpu: '16', memory: '16Gi' }, requests: { cpu: '16', memory: '16Gi' } };

const podAnnotations = merged(
  maybe('note', text),
  maybe(annotations.safeToEvict, fc.constantFrom('cache', 'a,b', 'lumigo-injector', 'a,lumigo-injector')),
);

const podLabels = maybe(labels.autoTrace, fc.constantFrom('true', 'maybe', '1'));

/** A valid pod template. Its labels hold `app: app`, so that a selector finds it. */
export function podTemplate(options: PodTemplateOptions = {}): fc.Arbitrary<PodTemplate> {
  const volumeNames = fc.uniqueArray(
    fc.oneof({ weight: 8, arbitrary: word }, { weight: 1, arbitrary: fc.constant('lumigo-injector') }),
    { maxLength: 3 },
  );
  const containerNames = fc.uniqueArray(
    fc.oneof({ weight: 12, arbitrary: word }, { weight: 1, arbitrary: fc.constant('lumigo-injector') }),
    {
      minLength: 2,
      maxLength: 4,
    },
  );
  return fc.tuple(volumeNames, containerNames, fc.integer({ min: 0, max: 2 })).chain(([volumes, names, inits]) => {
    const initNames = names.slice(0, Math.min(inits, names.length - 1));
    const appNames = names.slice(initNames.length);
    const spec = merged(
      fc.tuple(...appNames.map((name) => container(name, volumes, options))).map((containers) => ({ containers })),
      initNames.length === 0
        ? fc.constant({})
        : fc
            .tuple(...initNames.map((name) => initContainer(name, volumes, options)))
            .map((initContainers) => ({ initContainers })),
      fc.constant(volumes.length === 0 ? {} : { volumes: volumes.map((name) => ({ name, emptyDir: {} })) }),
      podSecurity.map((securityContext) => ({ securityContext })),
      maybe('imagePullSecrets', fc.constantFrom([{ name: 'mine' }], [{ name: 'mine' }, { name: 'shared' }])),
      maybe('hostNetwork', fc.constant(true)),
      fc.option(fc.constant({ resources: podLevel }), { nil: {}, freq: 6 }),
      maybe('nodeSelector', fc.constant({ 'kubernetes.io/arch': 'amd64' })),
      options.unknownFields === true
        ? fc.option(
            fc.constant({ ephemeralContainers: [{ name: 'debug', image: 'debug:1' }], futureField: { a: [1] } }),
            { nil: {} },
          )
        : fc.constant({}),
      fc.constant({
        restartPolicy: options.restartPolicy ?? 'Always',
        dnsPolicy: 'ClusterFirst',
        schedulerName: 'default-scheduler',
        terminationGracePeriodSeconds: 30,
      }),
    );
    return fc.tuple(podLabels, podAnnotations, spec).map(
      ([ownLabels, ownAnnotations, found]) =>
        ({
          metadata: {
            ...shown({ annotations: ownAnnotations }),
            labels: { app: 'app', ...ownLabels },
          },
          spec: found,
        }) as unknown as PodTemplate,
    );
  });
}

const initContainer = (name: string, volumes: readonly string[], options: PodTemplateOptions) =>
  fc
    .tuple(container(name, volumes, options), fc.boolean())
    .map(([found, sidecar]) => (sidecar ? { ...found, restartPolicy: 'Always' } : found));
