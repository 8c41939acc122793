import fc from 'fast-check';
import { settingNames, settingValues } from './tracer-settings.ts';
import type { Container } from '../../../runtime/api/objects.ts';

/** Containers as unusual as users', in the form in which the API server returns them. */
export interface ContainerOptions {
  /** Fields that Kubernetes does not know, or nothing. */
  readonly unknown: fc.Arbitrary<Fields>;
  /** The resources of containers by quality of service: `all` is Guaranteed, `nothing` is BestEffort. */
  readonly asks: 'any' | 'all' | 'nothing';
  readonly volumes: readonly string[];
}

export type Fields = Readonly<Record<string, unknown>>;

/** The API server leaves out unset keys, so each key is missing half of the time. */
export const maybe = <T>(key: string, value: fc.Arbitrary<T>): fc.Arbitrary<Fields> =>
  fc.option(value, { nil: undefined, freq: 2 }).map((found) => (found === undefined ? {} : { [key]: found }));

export const merged = (...parts: readonly fc.Arbitrary<Fields>[]): fc.Arbitrary<Fields> =>
  fc.tuple(...parts).map((found) => Object.assign({}, ...found) as Fields);

export const shown = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value as object).length > 0));

/** Each JavaScript object inherits members of these names. `constructor` is also a valid name of a container. */
const inherited = fc.constantFrom('constructor', 'toString', 'hasOwnProperty', '__proto__');
export const rarely = (name: fc.Arbitrary<string>, usual: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 30, arbitrary: usual }, { weight: 1, arbitrary: name });

export const word = rarely(fc.constant('constructor'), fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/));
const key = rarely(inherited, word);
export const text = fc.stringMatching(/^[ -~]{1,12}$/);

const future = fc.record({
  futureField: fc.record({ nested: fc.array(fc.integer(), { minLength: 1, maxLength: 2 }) }),
});

export const nothing = fc.constant<Fields>({});
/** An unknown field, most of the time. It is for pure tests only. */
export const perhaps: fc.Arbitrary<Fields> = fc.option(future, { nil: {} });

const valueFrom = fc.oneof(
  fc.record({ secretKeyRef: fc.record({ name: word, key }) }),
  fc.record({ configMapKeyRef: fc.record({ name: word, key, optional: fc.boolean() }) }),
  fc.constant({ fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } }),
  fc.constant({ resourceFieldRef: { resource: 'limits.cpu', divisor: '0' } }),
);

const preload = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom<Fields>(
      {},
      { value: '/usr/lib/libjemalloc.so.2' },
      { value: '/a.so:/b.so' },
      { value: ' /a.so  /b.so ' },
      { value: '/opt/lumigo/injector/lumigo_injector.so' },
      { value: '/a.so:/opt/lumigo/injector/lumigo_injector.so' },
      { value: '/opt/lumigo/injector/lumigo_injector.so:/a.so /opt/lumigo/injector/lumigo_injector.so' },
      { value: ':' },
    ),
  },
  { weight: 1, arbitrary: valueFrom.map((from) => ({ valueFrom: from })) },
);

const anyValue = fc.oneof(
  fc.constant<Fields>({}),
  text.map((value) => ({ value })),
  valueFrom.map((from) => ({ valueFrom: from })),
);

const tracerNames = [
  'LUMIGO_TRACER_TOKEN',
  'LUMIGO_ENDPOINT',
  'LUMIGO_LOGS_ENDPOINT',
  'LUMIGO_ENABLE_TRACES',
  'LUMIGO_ENABLE_LOGS',
  'LUMIGO_CONTAINER_NAME',
];

const settingValue = fc.oneof(
  anyValue,
  fc.constantFrom(...settingValues).map((value) => ({ value })),
);

const agentOption = fc.constantFrom<Fields>(
  {},
  { value: '--max-old-space-size=300' },
  { value: '--require /datadog-lib/node_modules/dd-trace/init' },
  { value: '/otel-auto-instrumentation-python:/app' },
  { valueFrom: { configMapKeyRef: { name: 'settings', key: 'options' } } },
);

/** There are few names, so some are duplicates, which the API server accepts. */
const named = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.stringMatching(/^[A-Z][A-Z_.-]{0,2}$/), anyValue) },
  { weight: 2, arbitrary: fc.tuple(fc.constant('LD_PRELOAD'), preload) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...tracerNames), anyValue) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...settingNames), settingValue) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('NODE_OPTIONS', 'PYTHONPATH'), agentOption) },
  { weight: 1, arbitrary: fc.tuple(inherited, anyValue) },
);
const environment = (unknown: fc.Arbitrary<Fields>) =>
  maybe(
    'env',
    fc.array(
      fc.tuple(named, unknown).map(([[name, value], extra]) => ({ name, ...value, ...extra })),
      { minLength: 1, maxLength: 5 },
    ),
  );

const envFrom = maybe(
  'envFrom',
  fc.constantFrom(
    [{ configMapRef: { name: 'settings', optional: true } }],
    [{ prefix: 'P_', secretRef: { name: 'secrets' } }, { configMapRef: { name: 'settings' } }],
  ),
);

/** A request, a limit, both or neither. A limit is never below its request. */
const share = (resource: string, small: string, large: string) =>
  fc.constantFrom<readonly [Fields, Fields]>(
    [{}, {}],
    [{ [resource]: small }, {}],
    [{ [resource]: small }, { [resource]: small }],
    [{ [resource]: small }, { [resource]: large }],
    [{ [resource]: large }, { [resource]: large }],
  );

const storage = fc.oneof(
  { weight: 12, arbitrary: share('ephemeral-storage', '300M', '2Gi') },
  { weight: 2, arbitrary: share('ephemeral-storage', '50Mi', '150M') },
);

const anyResources = fc
  .tuple(share('cpu', '100m', '2'), share('memory', '64Mi', '1Gi'), storage)
  .map(([cpu, memory, disk]) =>
    shown({ limits: { ...cpu[1], ...memory[1], ...disk[1] }, requests: { ...cpu[0], ...memory[0], ...disk[0] } }),
  );

const resources: Readonly<Record<ContainerOptions['asks'], fc.Arbitrary<Fields>>> = {
  any: fc.option(anyResources, { nil: {} }),
  all: fc
    .constantFrom({ cpu: '250m', memory: '128Mi' }, { cpu: '1', memory: '1Gi' })
    .map((amount) => ({ limits: amount, requests: amount })),
  nothing,
};

const security = maybe(
  'securityContext',
  fc.constantFrom<Fields>(
    {},
    { runAsUser: 0 },
    { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000 },
    { privileged: true },
    { capabilities: { add: ['NET_ADMIN'] } },
    { seLinuxOptions: { level: 's0:c1,c2' }, seccompProfile: { type: 'Localhost', localhostProfile: 'p.json' } },
    { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    {
      allowPrivilegeEscalation: false,
      capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  ),
);

const mountPath = fc.oneof(
  { weight: 12, arbitrary: word.map((name) => `/data/${name}`) },
  { weight: 1, arbitrary: fc.constantFrom('/opt/lumigo', '/opt/lumigo/') },
  { weight: 1, arbitrary: fc.constantFrom('/opt/lumigo/config', '/opt/lumigo2', '/opt') },
);

function mounts({ volumes, unknown }: ContainerOptions): fc.Arbitrary<Fields> {
  if (volumes.length === 0) return nothing;
  const each = merged(
    fc.record({ name: fc.constantFrom(...volumes), mountPath }),
    maybe('readOnly', fc.constant(true)),
    maybe('subPath', word),
    unknown,
  );
  const selector = (mount: Fields) => mount['mountPath'];
  return maybe('volumeMounts', fc.uniqueArray(each, { selector, minLength: 1, maxLength: 3 }));
}

export function container(name: string, options: ContainerOptions): fc.Arbitrary<Container> {
  return merged(
    fc.constant({ name, image: `${name}:1` }),
    environment(options.unknown),
    envFrom,
    mounts(options),
    resources[options.asks].map((found) => ({ resources: found })),
    security,
    options.unknown,
    fc.constant({
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      imagePullPolicy: 'IfNotPresent',
    }),
  ) as fc.Arbitrary<unknown> as fc.Arbitrary<Container>;
}

export const initContainer = (name: string, options: ContainerOptions): fc.Arbitrary<Container> =>
  fc
    .tuple(container(name, options), fc.boolean())
    .map(([found, sidecar]) => (sidecar ? { ...found, restartPolicy: 'Always' } : found));
