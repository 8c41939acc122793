import { decidePod } from '../injection/decide-pod.ts';
import { recordedSettings } from '../injection/intact.ts';
import { readRecord } from '../injection/record.ts';
import type { InjectorSettings, Metadata, NamespacePolicy, TracingSettings, Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import { evidenceIn, type Evidence, type PodStatus } from './evidence.ts';
import { readySince, type PodCondition } from './observe-pod.ts';

/** A pod of a namespace in Pod mode, as the leader knows it: some 300 bytes. Times are milliseconds since 1970, by the cluster's clocks. */
export interface ModePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Its controller; undefined where it has none. */
  readonly owner: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
  readonly createdAt: number;
  /** What its injection does; undefined where it has none. */
  readonly injected: Partial<TracingSettings> | undefined;
  /** Whether it would be injected if it were created now. */
  readonly isInReach: boolean;
  readonly isGoing: boolean;
  readonly readySince: number | undefined;
  /** What its containers show against an injection. */
  readonly evidence: Evidence | undefined;
}

/** Any namespace in Pod mode would do: what it asks for decides nothing here. */
const anyPolicy: NamespacePolicy = {
  ...{ state: 'pods', lumigo: '', createdAt: '', injectExisting: true },
  tracing: { secretName: '', secretKey: '', traces: true, logs: true },
};

/** What is kept of a pod, as the API server sends it; undefined for one that has ended. */
export function observeModePod(object: Pod, injector: InjectorSettings): ModePod | undefined {
  const { status = {} } = object;
  if (status.phase === 'Succeeded' || status.phase === 'Failed') return undefined;
  const { managedFields: _fields, ...metadata } = object.metadata;
  const pod: Workload = { apiVersion: 'v1', kind: 'Pod', metadata, spec: object.spec };
  return {
    ...identityOf(metadata),
    injected: injectedAs(pod),
    isInReach: decidePod({ pod, policy: anyPolicy, injector }).action === 'inject',
    isGoing: metadata.deletionTimestamp !== undefined,
    readySince: readySince(status.conditions),
    evidence: evidenceIn(status),
  };
}

interface Pod {
  readonly metadata: Metadata;
  readonly spec?: unknown;
  readonly status?: PodStatus & { readonly conditions?: readonly PodCondition[]; readonly phase?: string };
}

function identityOf({ namespace = '', name = '', uid = '', ownerReferences = [], creationTimestamp = '' }: Metadata) {
  const owner = ownerReferences.find(({ controller }) => controller === true);
  return {
    ...{ namespace, name, uid, createdAt: Date.parse(creationTimestamp) || 0 },
    owner: owner && { kind: owner.kind, name: owner.name, uid: owner.uid },
  };
}

function injectedAs(pod: Workload): ModePod['injected'] {
  const template = templateOf(pod);
  return template !== undefined && readRecord(template) !== undefined ? recordedSettings(template) : undefined;
}
