import { environment, injector as names, labels, lumigo } from '../../../runtime/contract.ts';
import { isPlainObject } from '../../../runtime/json/values.ts';
import type { PatchOperation, Workload } from '../../../runtime/api/objects.ts';
import { pointerStep } from '../../../runtime/injection/patch.ts';
import { tracerSettings } from '../../../runtime/injection/tracer-settings.ts';
import { variables } from '../../../runtime/injection/variables.ts';
import { getKind } from './guarded-cluster.ts';

export interface ForeignChange {
  readonly name: string;
  readonly patch: readonly PatchOperation[];
}

type Place = readonly [path: readonly string[], value: unknown];
type Fields = readonly (readonly [name: string, value: unknown])[];

const pointer = (path: readonly string[]): string => path.map((step) => `/${pointerStep(step)}`).join('');

const ownNames = new Set<unknown>([...variables.map(({ name }) => name), names.container, names.volume]);
const ownKeys = [labels.autoTrace, labels.rollout, 'safe-to-evict-local-volumes', `${lumigo.group}/`];
const SETTING = new RegExp(tracerSettings.name);
const isOwnKey = (key: string): boolean => ownKeys.some((own) => key.includes(own));

/** The operator's own parts of an object have separate tests. */
const isOwn = (key: string, value: unknown): boolean =>
  isOwnKey(key) ||
  (isPlainObject(value) &&
    (ownNames.has(value['name']) ||
      SETTING.test(String(value['name'])) ||
      String(value['mountPath'] ?? '').includes('/opt/')));

function placesIn(value: unknown, path: readonly string[]): Place[] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  const entries = Object.entries(value);
  const others = entries.filter(([key, child]) => !isOwn(key, child));
  // The operator may remove and reorder its own items of a list.
  const whole: Place[] = others.length === entries.length ? [[path, value]] : [];
  return [...whole, ...others.flatMap(([key, child]) => placesIn(child, [...path, key]))];
}

function another(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}x`;
  if (Array.isArray(value)) return [...(value as unknown[]), ...(value as unknown[]).slice(0, 1)].reverse();
  return { ...(value as object), key: 'value' };
}

const probe = { httpGet: { path: '/', port: 80 } };

const containerFields: Fields = [
  ['command', ['sh', '-c', 'id']],
  ['args', ['--evil']],
  ['image', 'evil:1'],
  ['workingDir', '/tmp'],
  ['ports', [{ containerPort: 4444, protocol: 'TCP' }]],
  ['envFrom', [{ secretRef: { name: 'other' } }]],
  ['livenessProbe', { exec: { command: ['sh'] } }],
  ['readinessProbe', probe],
  ['startupProbe', probe],
  ['lifecycle', { postStart: { exec: { command: ['sh'] } } }],
  ['securityContext', { privileged: true }],
  ['securityContext', { runAsUser: 0, capabilities: { add: ['SYS_ADMIN'] } }],
  ['resources', { limits: { cpu: '7' }, requests: { cpu: '7' } }],
  ['volumeDevices', [{ name: 'device', devicePath: '/dev/x' }]],
  ['terminationMessagePolicy', 'FallbackToLogsOnError'],
  ['imagePullPolicy', 'Never'],
  ['stdin', true],
  ['tty', true],
];
const podFields: Fields = [
  ['hostNetwork', true],
  ['hostPID', true],
  ['hostIPC', true],
  ['serviceAccountName', 'evil'],
  ['automountServiceAccountToken', true],
  ['nodeName', 'node'],
  ['nodeSelector', { evil: 'node' }],
  ['priorityClassName', 'system-node-critical'],
  ['shareProcessNamespace', true],
  ['securityContext', { runAsUser: 0 }],
  ['tolerations', [{ operator: 'Exists' }]],
  ['hostAliases', [{ ip: '10.0.0.1', hostnames: ['evil'] }]],
  ['dnsConfig', { nameservers: ['10.0.0.1'] }],
  ['dnsPolicy', 'Default'],
  ['schedulerName', 'evil'],
  ['runtimeClassName', 'evil'],
  ['terminationGracePeriodSeconds', 1],
  ['affinity', { nodeAffinity: {} }],
];
const specFields: Fields = [
  ['replicas', 7],
  ['paused', true],
  ['minReadySeconds', 5],
  ['suspend', true],
  ['schedule', '* * * * *'],
  ['concurrencyPolicy', 'Forbid'],
  ['revisionHistoryLimit', 3],
  ['progressDeadlineSeconds', 1_000],
  ['strategy', { type: 'Recreate' }],
  ['updateStrategy', { type: 'OnDelete' }],
  ['selector', { matchLabels: { app: 'another' } }],
];
/** The specification that holds the pod template is that of a Job in a CronJob. */
const jobFields: Fields = [
  ['parallelism', 7],
  ['backoffLimit', 7],
];
const metadataFields: Fields = [
  ['labels', { evil: 'label' }],
  ['annotations', { evil: 'annotation' }],
  ['finalizers', ['evil.example.com/finalizer']],
  ['ownerReferences', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'evil', uid: 'x' }]],
];
const items: Fields = [
  ['containers', { name: 'evil', image: 'evil:1' }],
  ['initContainers', { name: 'evil', image: 'evil:1' }],
  ['initContainers', { name: 'evil', image: 'evil:1', restartPolicy: 'Always' }],
  ['volumes', { name: 'evil', hostPath: { path: '/' } }],
  ['volumes', { name: 'evil', secret: { secretName: 'other' } }],
  ['imagePullSecrets', { name: 'evil' }],
];
const containerItems: Fields = [
  ['env', { name: 'EVIL', value: '1' }],
  ['env', { name: 'NODE_OPTIONS', value: '--require /evil.js' }],
  ['env', { name: environment.preload, value: '/evil.so' }],
  ['env', { name: environment.endpoint, value: 'http://evil' }],
  ['env', { name: environment.token, valueFrom: { configMapKeyRef: { name: 'evil', key: 'k' } } }],
  ['volumeMounts', { name: names.volume, mountPath: '/elsewhere' }],
];

const valueAt = (workload: Workload, path: readonly string[]): unknown =>
  path.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined)?.[step], workload);

const setEach = (at: readonly string[], fields: Fields): ForeignChange[] =>
  fields.map(([field, value]) => {
    const path = [...at, field];
    return { name: `set ${path.join('.')}`, patch: [{ op: 'add', path: pointer(path), value }] };
  });

const appendEach = (workload: Workload, at: readonly string[], added: Fields): ForeignChange[] =>
  added.map(([field, value]) => {
    const path = [...at, field];
    const isFirst = !Array.isArray(valueAt(workload, path));
    return {
      name: `append to ${path.join('.')}: ${JSON.stringify(value)}`,
      patch: [{ op: 'add', path: pointer(isFirst ? path : [...path, '-']), value: isFirst ? [value] : value }],
    };
  });

function mutations({ metadata, ...workload }: Workload): ForeignChange[] {
  const places = [
    ...placesIn(workload['spec'], ['spec']).slice(1),
    ...placesIn(metadata.labels, ['metadata', 'labels']).slice(1),
    ...placesIn(metadata.annotations, ['metadata', 'annotations']).slice(1),
  ];
  return places.flatMap(([path, value]) => [
    { name: `remove ${path.join('.')}`, patch: [{ op: 'remove', path: pointer(path) }] },
    { name: `change ${path.join('.')}`, patch: [{ op: 'replace', path: pointer(path), value: another(value) }] },
  ]);
}

/** Returns all foreign changes. The API server may find some invalid. */
export function foreignChanges(workload: Workload): readonly ForeignChange[] {
  const { template } = getKind(workload);
  const pod = [...template, 'spec'];
  const containers = ['containers', 'initContainers'].flatMap((list) => {
    const found = valueAt(workload, [...pod, list]);
    return Array.isArray(found) ? found.map((_, index) => [...pod, list, String(index)]) : [];
  });
  return [
    ...mutations(workload),
    ...containers.flatMap((container) => [
      ...setEach(container, containerFields),
      ...appendEach(workload, container, containerItems),
    ]),
    ...setEach(pod, podFields),
    ...appendEach(workload, pod, items),
    ...setEach(['spec'], specFields),
    ...setEach(['metadata'], metadataFields),
    ...setEach([...template, 'metadata'], metadataFields.slice(0, 2)),
    ...setEach(template.slice(0, -1), jobFields),
  ];
}
