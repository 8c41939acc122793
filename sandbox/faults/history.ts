import { annotations, eventReasons, lumigo as contract } from '../../runtime/contract.ts';
import { parseRevert } from '../../runtime/injection/revert.ts';
import { parseStamp, type Stamp } from '../../runtime/injection/stamp.ts';
import { policyOf } from '../../runtime/injection/policy.ts';
import type { LumigoResource, Metadata, TracingSettings, Workload } from '../../runtime/injection/types.ts';
import type { ObjectMeta } from '../../runtime/kubernetes/resources/objects.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { Installation } from '../manager/install.ts';
import { followAudit, isManagers, type AuditEntry } from '../testing/audit.ts';

/** What of an injection is asked for, as text; `none`: that there is none. */
export type Wanted = string;

/** When and where. */
interface Moment {
  readonly atMs: number;
  readonly namespace: string;
}

/** What the operator notes on a workload about its last change, and what the pod template has. */
export interface Noted {
  readonly stamp: Stamp | undefined;
  readonly isReverted: boolean;
  /** The annotation as a whole. */
  readonly stampText: string | undefined;
  readonly has: Wanted;
}

/** A write of a workload that the API server took. */
export interface WorkloadWrite extends Moment, Noted {
  readonly uid: string;
  readonly byOperator: boolean;
  readonly version: number;
  readonly generation: number;
}

export interface EventPost extends Moment {
  readonly uid: string;
  readonly reason: string;
  /** That a program fails with the injection is no warning of a fault. */
  readonly isWarning: boolean;
}

/** A user's write of a Lumigo that asks for something else than before. */
export interface Ask extends Moment {
  readonly wanted: Wanted;
}

/** A request of the operator's, by the credential that it came with. */
export interface OperatorRequest extends Moment {
  readonly credential: string;
  readonly verb: string;
  /** With its subresource: `lumigoes/status`. */
  readonly resource: string;
  readonly name: string;
}

/** Everything that happened in a cluster, as its API server has noted it. */
export class History {
  readonly writes: WorkloadWrite[] = [];
  readonly posts: EventPost[] = [];
  readonly asks: Ask[] = [];
  readonly requests: OperatorRequest[] = [];
  readonly #added: () => readonly AuditEntry[];
  readonly #isOperators: (entry: AuditEntry) => boolean;

  constructor(auditLog: string, installation: Installation) {
    this.#added = followAudit(auditLog);
    this.#isOperators = isManagers(installation);
  }

  /** Takes in what has been noted since the last time. */
  refresh(): this {
    // A watch is answered as long as it lasts.
    for (const entry of this.#added())
      if (entry.stage === (entry.verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete')) this.#take(entry);
    return this;
  }

  #take(entry: AuditEntry): void {
    const byOperator = this.#isOperators(entry);
    const resource = entry.objectRef?.resource;
    if (byOperator) this.requests.push(requestOf(entry));
    if (!wasTaken(entry)) return;
    if (resource === 'deployments') this.writes.push(...writeOf(entry, byOperator));
    else if (resource === 'events' && byOperator && entry.requestObject !== undefined) this.posts.push(postOf(entry));
    else if (resource === contract.plural && !byOperator) this.asks.push(...asksOf(entry));
  }
}

/** Whether it changed something: refusals, dry runs and subresources did not. */
const wasTaken = ({ responseStatus, requestURI, objectRef }: AuditEntry): boolean =>
  (responseStatus?.code ?? 0) < 300 && !requestURI.includes('dryRun=') && objectRef?.subresource === undefined;

function writeOf({ responseObject, stageTimestamp }: AuditEntry, byOperator: boolean): WorkloadWrite[] {
  const object = responseObject as { readonly metadata?: ObjectMeta & { readonly generation: number } } | undefined;
  if (object?.metadata?.uid === undefined) return [];
  const { uid, namespace = '', generation, resourceVersion } = object.metadata;
  const made = { atMs: Date.parse(stageTimestamp), namespace, uid, byOperator, generation };
  return [{ ...made, version: Number(resourceVersion), ...notedOn(object) }];
}

/** The whole object shows if there is an injection; of an answer with metadata alone the stamp has to be believed. */
export function notedOn(object: { readonly metadata?: Metadata; readonly spec?: unknown }): Noted {
  const stampText = object.metadata?.annotations?.[annotations.instrumentation];
  const stamp = parseStamp(stampText);
  const template = templateOf({ ...(object as Workload), apiVersion: 'apps/v1', kind: 'Deployment' });
  const isIn = object.spec === undefined || template?.metadata?.annotations?.[annotations.injection] !== undefined;
  const has = isIn && stampText !== undefined ? wantedOf(stamp?.tracing) : 'none';
  return { stamp, stampText, isReverted: parseRevert(stampText) !== undefined, has };
}

const wantedOf = (tracing: TracingSettings | undefined): Wanted =>
  tracing === undefined
    ? 'none'
    : `${tracing.secretName}/${tracing.secretKey} traces=${tracing.traces} logs=${tracing.logs}`;

/** The request came before whatever followed from it. A namespace that goes deletes all of its Lumigo resources at once. */
function asksOf({ verb, objectRef, responseObject, requestReceivedTimestamp }: AuditEntry): Ask[] {
  const isEnd = verb === 'delete' || verb === 'deletecollection';
  const wanted = isEnd ? 'none' : wantedBy(responseObject as LumigoResource | undefined);
  const moment = { atMs: Date.parse(requestReceivedTimestamp), namespace: objectRef?.namespace ?? '' };
  return wanted === undefined ? [] : [{ ...moment, wanted }];
}

/** What a Lumigo as it was just written wants of its namespace; nothing new where it goes or asks for no change. */
export function wantedBy(lumigo: LumigoResource | undefined): Wanted | undefined {
  if (lumigo?.spec === undefined || lumigo.metadata.deletionTimestamp !== undefined) return undefined;
  const policy = policyOf([{ ...lumigo, status: { conditions: [active] } }]);
  if (policy.state === 'active') return wantedOf(policy.tracing);
  return policy.state === 'disabled' && policy.remove ? 'none' : undefined;
}

const active = { type: 'Active', status: 'True', reason: '', message: '', lastTransitionTime: '' } as const;

const CREDENTIAL = 'authentication.kubernetes.io/credential-id';

function requestOf({ verb, user, objectRef, requestReceivedTimestamp }: AuditEntry): OperatorRequest {
  const { resource, subresource, namespace = '', name = '' } = objectRef ?? {};
  return {
    ...{ atMs: Date.parse(requestReceivedTimestamp), namespace, name, verb },
    credential: user.extra?.[CREDENTIAL]?.[0] ?? '',
    resource: [resource, subresource].filter((part) => part !== undefined).join('/'),
  };
}

function postOf({ requestObject, stageTimestamp }: AuditEntry): EventPost {
  const { involvedObject, reason, type } = requestObject as {
    readonly involvedObject: { readonly uid?: string; readonly namespace?: string };
    readonly reason: string;
    readonly type: string;
  };
  const { namespace = '', uid = '' } = involvedObject;
  const isWarning = type === 'Warning' && reason !== eventReasons.reverted;
  return { atMs: Date.parse(stageTimestamp), namespace, uid, reason, isWarning };
}
