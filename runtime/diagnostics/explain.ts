import { toInjector } from '../config/config.ts';
import { pods, type WorkloadKind } from '../contract.ts';
import { readCredential } from '../credentials/credential.ts';
import { decidePod } from '../injection/decide-pod.ts';
import type { Decision } from '../injection/decision.ts';
import { hiddenPreloads } from '../injection/hidden-preload.ts';
import { ourLabel } from '../injection/label.ts';
import { remedies, silenceChecks } from '../injection/remedies.ts';
import { getOriginalState } from '../injection/original-state.ts';
import { hasInjection, remove } from '../injection/remove.ts';
import { findRevert } from '../injection/revert.ts';
import { isOriginals } from '../injection/standing.ts';
import { getInjectionStatus } from '../injection/injection-status.ts';
import { events } from '../api/events.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { Workload } from '../api/objects.ts';
import type { InjectorSettings, NamespacePolicy } from '../injection/types.ts';
import { blockedTexts } from '../rollout/workload-state.ts';
import { toTemplate } from '../injection/workload.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { getSelector, isPodOf } from '../kubernetes/resources/pod-identity.ts';
import { findPod, NOT_ENDED } from '../kubernetes/resources/pods.ts';
import { describePolicy, listLumigoes, toStore, type ReadOptions } from './preview.ts';
import { outlook, UNTRIED, type Outlook } from './render-verdicts.ts';
import { parsePodName, parseTarget } from './target.ts';
import { abridged } from '../wording/abridged.ts';
import { verdictOn, type Verdict } from './verdict.ts';

interface ExplainOptions extends ReadOptions {
  readonly namespace: string;
  readonly target: string;
}

/** `lumigo explain -o json` prints this. */
interface Explanation {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly now: string;
  /** Set if the workload stays without the injection. */
  readonly remedy: string | undefined;
  readonly policy: string;
  readonly decision: string;
  readonly next: string;
  /** Set if the injection sends to another telemetry proxy. */
  readonly sendsTo?: string | undefined;
  /** Set if the status of the `Lumigo` resource lists the workload. */
  readonly telemetry?: string | undefined;
  readonly notes: readonly string[];
}

/** Throws an Error with a sentence for the user if the target does not exist or cannot be read. */
export async function explain(options: ExplainOptions): Promise<Explanation> {
  const { client, namespace, config } = options;
  const pod = parsePodName(options.target);
  if (pod !== undefined) return explainPod(pod, options);
  const { kind, name } = parseTarget(options.target);
  const lumigoes = await listLumigoes(options);
  const store = toStore(lumigoes, config);
  const policy = store.policy(namespace);
  const lumigo = store.effective(namespace);
  const workload = (await client.find({ ...kind, namespace, name })) as Workload | undefined;
  const verdict = workload && (await verdictOn(kind, workload, policy, options));
  if (workload === undefined || verdict === undefined) throw noSuch(kind.kind, name, namespace);
  const after = 'workload' in verdict.decision ? verdict.decision.workload : workload;
  const inPods = policy.kind === 'pods' ? describePods(await decidePods(workload, policy, options)) : undefined;
  return {
    kind: kind.kind,
    namespace,
    name,
    now: describeNow(workload),
    remedy: remedies[verdict.decision.code],
    ...inPods,
    policy: describePolicy(policy),
    decision: verdict.decision.message,
    next: describeNext(kind, verdict, findDelay(verdict, lumigo)),
    sendsTo: config.isAssumed ? undefined : describeElsewhere(verdict, config.telemetryProxyUrl),
    telemetry: describeTelemetry(lumigoes, workload.metadata.uid),
    notes: [...notesOn(after, lumigo, verdict.untried), ...(await notesOnOwnToken(after, policy, client))],
  };
}

/** `after`: as the operator leaves it. `lumigo`: the one in effect. */
export function notesOn(after: Workload, lumigo?: LumigoResource, untried?: boolean): readonly string[] {
  const token = lumigo?.status?.conditions?.find(({ type }) => type === 'TokenAccepted');
  return [
    ...hiddenPreloads(toTemplate(after)?.spec ?? { containers: [] }),
    getInjectionStatus(after.metadata)?.skipped,
    untried === true ? `${UNTRIED}, so the answer of the API server is unknown` : undefined,
    token?.status === 'False' ? token.message : undefined,
  ].filter((note) => note !== undefined);
}

/** Without a `Lumigo`, no condition says if the token can be used. */
async function notesOnOwnToken({ metadata }: Workload, policy: NamespacePolicy, client: Client): Promise<string[]> {
  const { secretName: name, secretKey: key } = getInjectionStatus(metadata)?.tracing ?? {};
  if (policy.kind !== 'none' || name === undefined || key === undefined) return [];
  const { problem } = await readCredential(client, { namespace: metadata.namespace ?? '', name, key });
  return problem === undefined || problem.reason === 'SecretForbidden' ? [] : [problem.message];
}

/** Only Pod mode decides about single pods. */
async function explainPod(name: string, options: ExplainOptions): Promise<Explanation> {
  const { client, namespace, config } = options;
  const pod = await findPod(client, namespace, name);
  if (pod === undefined) throw noSuch('Pod', name, namespace);
  const store = toStore(await listLumigoes(options), config);
  const policy = store.policy(namespace);
  const injector = toInjector(config);
  const decision = decidePod(pod, policy, injector);
  const { kind: action, code, message } = decision;
  const after = decision.kind === 'inject' ? decision.workload : pod;
  return {
    kind: 'Pod',
    namespace,
    name,
    now: code === 'up-to-date' ? 'runs with the injection' : 'runs without the injection',
    policy: describePolicy(policy),
    decision: message,
    next: action === 'inject' ? 'its replacement is injected. Delete it, or restart its workload' : 'nothing changes',
    remedy: remedies[code],
    notes: [...notesOn(after, store.effective(namespace)), ...skippedIn(pod, policy, injector)],
  };
}

/** The API server records only names. A sidecar, or a container that its user excludes, has no reason. */
export function skippedIn(pod: Workload, policy: NamespacePolicy, injector: InjectorSettings): readonly string[] {
  const template = toTemplate(pod);
  const decision = decidePod({ ...pod, ...(template && remove(template)) }, policy, injector);
  const reasons = decision.kind === 'inject' ? decision.skipped : [];
  const state = template && getOriginalState(template);
  const findReason = (name: string) => reasons.find((each) => each.startsWith(`container '${name}' `));
  if (state === undefined) return reasons;
  return (state.skipped ?? []).map((name) => findReason(name) ?? `container '${name}' is skipped`);
}

const MAX_NAMES_SHOWN = 10;
type DecidedPod = Pick<Decision, 'kind' | 'code'> & { readonly name: string };

async function decidePods(workload: Workload, policy: NamespacePolicy, options: ExplainOptions) {
  const { client, namespace, config } = options;
  const injector = toInjector(config);
  const found: DecidedPod[] = [];
  const selected = { limit: 100, labelSelector: getSelector(workload), fieldSelector: NOT_ENDED };
  for await (const { items } of client.pages({ ...pods, namespace }, selected))
    for (const item of items) {
      if (item.metadata.deletionTimestamp !== undefined || !isPodOf(workload, item.metadata)) continue;
      const pod = { ...item, apiVersion: pods.version, kind: 'Pod' };
      const { kind, code } = decidePod(pod, policy, injector);
      found.push({ name: pod.metadata.name, kind, code });
    }
  return found;
}

/** A restart helps only if the API server would inject one of the pods now. */
export function describePods(found: readonly DecidedPod[]): Pick<Explanation, 'now' | 'remedy'> {
  const without = found.filter(({ code }) => code !== 'up-to-date');
  const names = without.map(({ name }) => name).sort();
  const rest = names.length === 0 ? '' : `. Without it: ${abridged(names, MAX_NAMES_SHOWN)}`;
  const now = `${found.length - names.length} of ${found.length} pods run with the injection${rest}`;
  const isOpen = without.some(({ kind }) => kind === 'inject');
  return { now, remedy: remedies[isOpen ? 'pod-mode' : (without[0]?.code ?? 'up-to-date')] };
}

const noSuch = (kind: string, name: string, namespace: string): Error =>
  new Error(`there is no ${kind} '${name}' in the '${namespace}' namespace. To use another namespace, pass -n`);

export function renderExplanation(explained: Explanation): string {
  const { kind, namespace, name, notes } = explained;
  const rows: [label: string, text: string | undefined][] = [
    ['Now:', explained.now],
    ['Namespace:', explained.policy],
    ['Decision:', explained.decision],
    ['Next:', explained.next],
    ['Remedy:', explained.remedy],
    ['Sends to:', explained.sendsTo],
    ['Telemetry:', explained.telemetry],
  ];
  for (const note of notes) rows.push(['Note:', note]);
  const known = rows.filter(([, text]) => text !== undefined);
  return [`${kind} ${namespace}/${name}`, ...known.map(([label, text]) => `  ${label.padEnd(11)} ${text}`)].join('\n');
}

export function describeNow(workload: Workload): string {
  const injectionStatus = getInjectionStatus(workload.metadata);
  if (isOriginals(workload))
    return `instrumented by the original operator (${ourLabel(workload.metadata)}), not adopted. A Lumigo resource adopts it, and the label lumigo.auto-trace=false removes it`;
  const revert = findRevert(workload.metadata);
  if (revert !== undefined) return `not instrumented, because it was reverted at ${revert.at} (${revert.cause})`;
  if (injectionStatus === undefined)
    return hasInjection(workload) ? 'has the injection, without a record of its change' : 'not instrumented';
  const { change, at, by, tracing, keep } = injectionStatus;
  const signals = [tracing.traces ? 'traces' : 'no traces', tracing.logs ? 'logs' : 'no logs'].join(', ');
  return `instrumented (${change} ${at} by the ${by}; ${signals}, token from Secret '${tracing.secretName}', key '${tracing.secretKey}'${keep === true ? ', stays when its Lumigo is deleted' : ''})`;
}

function describeElsewhere({ decision }: Verdict, endpoint: string): string | undefined {
  if (decision.kind === 'remove' || decision.elsewhere === undefined) return undefined;
  return `${decision.elsewhere}, which is not this operator's telemetry proxy (${endpoint}) and may no longer exist. The next change of its pod template corrects this. To correct it at once, set 'injection.updateOnUpgrade'`;
}

export function describeTelemetry(lumigoes: readonly LumigoResource[], uid: string | undefined): string | undefined {
  const entries = lumigoes.flatMap(({ status }) => status?.instrumentedResources ?? []);
  const { telemetry, telemetrySince: since } = entries.find((entry) => entry.uid === uid) ?? {};
  if (telemetry === undefined) return undefined;
  if (telemetry === 'Received') return `arrives at the telemetry proxy, the first at ${since}`;
  if (since === undefined) return 'nothing yet. The operator has not seen all its pods run with the injection';
  return `nothing since its pods run with the injection (${since}). Check: ${silenceChecks}`;
}

const next: Readonly<Record<Outlook, string>> = {
  instrument: 'the reconciler instruments it; ',
  update: 'the reconciler renews its injection; ',
  remove: 'the reconciler removes its injection; ',
  relabel: 'the reconciler corrects its labels; no pod restarts',
  REFUSED: 'the reconciler tries, but the API server refuses the change: ',
  CANNOT: 'nothing, until the cause is fixed',
  untouched: 'nothing changes',
};

const laterPods: Readonly<Record<string, string>> = { CronJob: 'its next Jobs', ReplicaSet: 'its new pods' };

/** Returns also what the status says. Only the leader knows that another writer undoes its changes. */
export function findDelay({ kind, name, blocked }: Verdict, lumigo: LumigoResource | undefined): string | undefined {
  if (blocked !== undefined) return `it ${blockedTexts[blocked]}`;
  const { reason, message = '' } = lumigo?.status?.conditions?.find(({ type }) => type === 'RolledOut') ?? {};
  if (message.includes(` ${kind.kind}/${name} ${blockedTexts.Contested}`))
    return `it ${blockedTexts.Contested}. ${events.LumigoInstrumentationContested.action}`;
  return reason === 'Halted' ? message : undefined;
}

const awaitsUser: ReadonlySet<unknown> = new Set(['WaitsForChange', 'WaitsForApproval']);

export function describeNext({ kind }: WorkloadKind, verdict: Verdict, delay: string | undefined): string {
  const what = outlook(verdict);
  const { decision, blocked, refusal = '' } = verdict;
  const isRetry = decision.code === 'reverted';
  if (isRetry && !awaitsUser.has(blocked)) return 'the reconciler tries again later';
  if (delay !== undefined && (isRetry || ['instrument', 'update'].includes(what))) return `nothing for now: ${delay}`;
  if (!['instrument', 'update', 'remove'].includes(what)) return next[what] + refusal;
  const newPods = laterPods[kind];
  if (newPods === undefined) return `${next[what]}its pods are replaced according to its update strategy`;
  return `${next[what]}${newPods} start ${what === 'remove' ? 'without' : 'with'} it`;
}
