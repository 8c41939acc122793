import { annotations, lumigo as contract } from '../../runtime/contract.ts';
import { getPolicy } from '../../runtime/injection/policy.ts';
import { isInjected } from '../../runtime/injection/remove.ts';
import { parseRevert } from '../../runtime/injection/revert.ts';
import { parseInjectionStatus, type InjectionStatus } from '../../runtime/injection/injection-status.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { LumigoResource } from '../../runtime/api/lumigo.ts';
import type { TracingSettings } from '../../runtime/injection/types.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import type { AuditEntry } from '../testing/audit.ts';

/** The asked-for injection as text, or `none`. */
export type Wanted = string;

interface Moment {
  readonly atMs: number;
  readonly namespace: string;
}

/** A workload after a write: its generation, the operator's annotation, and the injection of its template. */
export interface WorkloadState {
  readonly uid: string;
  readonly generation: number;
  readonly version: number;
  readonly note: string | undefined;
  readonly change: InjectionStatus['change'] | undefined;
  readonly isReverted: boolean;
  readonly has: Wanted;
}

export interface WorkloadWrite extends Moment, WorkloadState {
  readonly byOperator: boolean;
}

/** A user's write of a `Lumigo` that asks for something else than before. */
export interface Ask extends Moment {
  readonly wanted: Wanted;
}

export interface OperatorRequest extends Moment {
  readonly credential: string;
  readonly verb: string;
  /** With its subresource: `lumigoes/status`. */
  readonly resource: string;
  readonly name: string;
}

export class History {
  readonly writes: WorkloadWrite[] = [];
  readonly asks: Ask[] = [];
  readonly requests: OperatorRequest[] = [];

  /** @param added returns the entries since its last call */
  constructor(
    private readonly added: () => readonly AuditEntry[],
    private readonly isOperators: (entry: AuditEntry) => boolean,
  ) {}

  /** Adds the entries since the last call. A watch is answered as long as it lasts. */
  refresh(): this {
    for (const entry of this.added())
      if (entry.stage === (entry.verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete')) this.add(entry);
    return this;
  }

  private add(entry: AuditEntry): void {
    const byOperator = this.isOperators(entry);
    if (byOperator) this.requests.push(getRequest(entry));
    if (!isChange(entry)) return;
    if (entry.objectRef?.resource === 'deployments') this.writes.push(...getWrite(entry, byOperator));
    else if (entry.objectRef?.resource === contract.plural && !byOperator) this.asks.push(...getAsks(entry));
  }
}

/** Refusals, dry runs and subresources change nothing that counts. */
const isChange = ({ responseStatus, requestURI, objectRef }: AuditEntry): boolean =>
  (responseStatus?.code ?? 0) < 300 && !requestURI.includes('dryRun=') && objectRef?.subresource === undefined;

function getWrite({ responseObject, stageTimestamp, objectRef }: AuditEntry, byOperator: boolean): WorkloadWrite[] {
  const written = responseObject as Workload | undefined;
  if (written?.metadata?.uid === undefined) return [];
  const moment = { atMs: Date.parse(stageTimestamp), namespace: objectRef?.namespace ?? '' };
  return [{ ...getState(written), ...moment, byOperator }];
}

/** The time is the request's, because all effects are later. Deleting a namespace deletes all of its `Lumigo` resources at once. */
function getAsks({ verb, objectRef, responseObject, requestReceivedTimestamp }: AuditEntry): Ask[] {
  const wanted = verb.startsWith('delete') ? 'none' : wantedBy(responseObject as LumigoResource | undefined);
  const moment = { atMs: Date.parse(requestReceivedTimestamp), namespace: objectRef?.namespace ?? '' };
  return wanted === undefined ? [] : [{ ...moment, wanted }];
}

/** The whole object shows the injection. An answer with metadata alone has only the annotation. */
export function getState({ metadata, spec }: Pick<Workload, 'metadata'> & { readonly spec?: unknown }): WorkloadState {
  const { uid = '', generation = 0, resourceVersion, annotations: found = {} } = metadata;
  const note = found[annotations.instrumentation];
  const injectionStatus = parseInjectionStatus(note);
  const template = toTemplate({ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec });
  const isIn = spec === undefined || (template !== undefined && isInjected(template));
  return {
    uid,
    generation,
    version: Number(resourceVersion),
    note,
    change: injectionStatus?.change,
    isReverted: parseRevert(note) !== undefined,
    has: isIn && injectionStatus !== undefined ? toWanted(injectionStatus.tracing) : 'none',
  };
}

const toWanted = ({ secretName, secretKey, traces, logs }: TracingSettings): Wanted =>
  `${secretName}/${secretKey} traces=${traces} logs=${logs}`;

const active = { type: 'Active', status: 'True', reason: '', message: '', lastTransitionTime: '' } as const;

/** Returns undefined if the `Lumigo` asks for no change, or is being deleted. */
export function wantedBy(lumigo: LumigoResource | undefined): Wanted | undefined {
  if (lumigo?.spec === undefined || lumigo.metadata.deletionTimestamp !== undefined) return undefined;
  const policy = getPolicy([{ ...lumigo, status: { conditions: [active] } }]);
  if (policy.kind === 'active') return toWanted(policy.tracing);
  return policy.kind === 'disabled' && policy.remove ? 'none' : undefined;
}

function getRequest({ verb, user, objectRef, requestReceivedTimestamp }: AuditEntry): OperatorRequest {
  const { resource, subresource, namespace = '', name = '' } = objectRef ?? {};
  return {
    atMs: Date.parse(requestReceivedTimestamp),
    namespace,
    name,
    verb,
    credential: user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '',
    resource: [resource, subresource].filter((part) => part !== undefined).join('/'),
  };
}
