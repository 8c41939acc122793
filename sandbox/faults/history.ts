import { annotations, lumigo as contract, suffixes } from '../../runtime/contract.ts';
import { parseStamp, type Stamp } from '../../runtime/injection/stamp.ts';
import { policyOf } from '../../runtime/injection/policy.ts';
import type { LumigoResource, Metadata, TracingSettings, Workload } from '../../runtime/injection/types.ts';
import type { ObjectMeta } from '../../runtime/kubernetes/resources/objects.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import { AuditTail, type AuditRecord } from './audit-tail.ts';

/** What of an injection is asked for, as text; `none`: that there is none. */
export type Wanted = string;

export const wantedOf = (tracing: TracingSettings | undefined): Wanted =>
  tracing === undefined
    ? 'none'
    : `${tracing.secretName}/${tracing.secretKey} traces=${tracing.traces} logs=${tracing.logs}`;

/** A write of a workload that the API server took. */
export interface WorkloadWrite {
  readonly atMs: number;
  readonly namespace: string;
  readonly uid: string;
  readonly byOperator: boolean;
  readonly version: number;
  readonly generation: number;
  /** What the operator notes on a workload about its last change, and that text as a whole. */
  readonly stamp: Stamp | undefined;
  readonly stampText: string | undefined;
  /** What the pod template has now. */
  readonly has: Wanted;
}

export interface EventPost {
  readonly atMs: number;
  readonly namespace: string;
  readonly uid: string;
  readonly reason: string;
  readonly isWarning: boolean;
}

/** A user's write of a Lumigo that asks for something else than before. */
export interface Ask {
  readonly atMs: number;
  readonly namespace: string;
  readonly wanted: Wanted;
}

/** A request of the operator's, by the credential that it came with. */
export interface OperatorRequest {
  readonly atMs: number;
  readonly credential: string;
  readonly verb: string;
  /** With its subresource: `lumigoes/status`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
}

/** Everything that happened in a cluster, as its API server has noted it. */
export class History {
  readonly writes: WorkloadWrite[] = [];
  readonly posts: EventPost[] = [];
  readonly asks: Ask[] = [];
  readonly requests: OperatorRequest[] = [];
  readonly #tail: AuditTail;
  readonly #operator: string;

  constructor(auditLog: string, settings: { readonly namespace: string; readonly name: string }) {
    this.#tail = new AuditTail(auditLog);
    this.#operator = `system:serviceaccount:${settings.namespace}:${settings.name}${suffixes.manager}`;
  }

  /** Takes in what has been noted since the last time. */
  refresh(): this {
    this.#tail.read((record) => this.#take(record));
    return this;
  }

  #take(record: AuditRecord): void {
    // A watch is answered as long as it lasts.
    if (record.stage !== (record.verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete')) return;
    const byOperator = record.user.username === this.#operator;
    if (byOperator) this.requests.push(requestOf(record));
    if (wasTaken(record)) this.#takeChange(record, byOperator);
  }

  #takeChange(record: AuditRecord, byOperator: boolean): void {
    const resource = record.objectRef?.resource;
    if (resource === 'deployments') this.#takeWrite(record, byOperator);
    else if (resource === 'events' && byOperator && record.requestObject !== undefined) this.posts.push(postOf(record));
    else if (resource === contract.plural && !byOperator) this.#takeAsk(record);
  }

  #takeWrite({ responseObject, stageTimestamp }: AuditRecord, byOperator: boolean): void {
    const object = responseObject as { readonly metadata?: ObjectMeta & { readonly generation: number } } | undefined;
    if (object?.metadata?.uid === undefined) return;
    const { uid, namespace = '', generation, resourceVersion, annotations: own } = object.metadata;
    const stampText = own?.[annotations.instrumentation];
    const stamp = parseStamp(stampText);
    this.writes.push({
      atMs: Date.parse(stageTimestamp),
      namespace,
      uid,
      byOperator,
      version: Number(resourceVersion),
      generation,
      stamp,
      stampText,
      has: injectedIn(object) ? wantedOf(stamp?.tracing) : 'none',
    });
  }

  #takeAsk({ verb, objectRef, responseObject, stageTimestamp }: AuditRecord): void {
    const atMs = Date.parse(stageTimestamp);
    const namespace = objectRef?.namespace ?? '';
    // A namespace that goes deletes them all at once.
    if (verb === 'delete' || verb === 'deletecollection') this.asks.push({ atMs, namespace, wanted: 'none' });
    const wanted = wantedBy(responseObject as LumigoResource | undefined);
    if (wanted !== undefined) this.asks.push({ atMs, namespace, wanted });
  }
}

/** Whether it changed something: refusals, dry runs and subresources did not. */
const wasTaken = ({ responseStatus, requestURI, objectRef }: AuditRecord): boolean =>
  (responseStatus?.code ?? 0) < 300 && !requestURI.includes('dryRun=') && objectRef?.subresource === undefined;

/** What a Lumigo as it was just written wants of its namespace; nothing new where it goes or asks for no change. */
function wantedBy(lumigo: LumigoResource | undefined): Wanted | undefined {
  if (lumigo?.spec === undefined || lumigo.metadata.deletionTimestamp !== undefined) return undefined;
  const policy = policyOf([{ ...lumigo, status: { conditions: [active] } }]);
  if (policy.state === 'active') return wantedOf(policy.tracing);
  return policy.state === 'disabled' && policy.remove ? 'none' : undefined;
}

const active = { type: 'Active', status: 'True', reason: '', message: '', lastTransitionTime: '' } as const;

/** The whole object shows it; of an answer with metadata alone the stamp has to be believed. */
function injectedIn(object: { readonly metadata?: Metadata; readonly spec?: unknown }): boolean {
  const { metadata, spec } = object;
  if (spec === undefined) return metadata?.annotations?.[annotations.instrumentation] !== undefined;
  const template = templateOf({ ...(object as Workload), apiVersion: 'apps/v1', kind: 'Deployment' });
  return template?.metadata?.annotations?.[annotations.injection] !== undefined;
}

const CREDENTIAL = 'authentication.kubernetes.io/credential-id';

function requestOf({ verb, user, objectRef, responseStatus, requestReceivedTimestamp }: AuditRecord): OperatorRequest {
  const { resource, subresource, namespace = '', name = '' } = objectRef ?? {};
  const [credential = ''] = user.extra?.[CREDENTIAL] ?? [];
  return {
    atMs: Date.parse(requestReceivedTimestamp),
    credential,
    verb,
    resource: [resource, subresource].filter((part) => part !== undefined).join('/'),
    namespace,
    name,
    code: responseStatus?.code ?? 0,
  };
}

function postOf({ requestObject, stageTimestamp }: AuditRecord): EventPost {
  const { involvedObject, reason, type } = requestObject as {
    readonly involvedObject: { readonly uid?: string; readonly namespace?: string };
    readonly reason: string;
    readonly type: string;
  };
  return {
    atMs: Date.parse(stageTimestamp),
    namespace: involvedObject.namespace ?? '',
    uid: involvedObject.uid ?? '',
    reason,
    isWarning: type === 'Warning',
  };
}
