import { injectorOf } from '../../runtime/config/config.ts';
import { lumigo as contract } from '../../runtime/contract.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { decide } from '../../runtime/injection/decide.ts';
import { policyOf } from '../../runtime/injection/policy.ts';
import { isInjected, uninstrument } from '../../runtime/injection/remove.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { InjectorSettings, LumigoResource, NamespacePolicy, Workload } from '../../runtime/injection/types.ts';
import { completionOf } from '../../runtime/rollout/completion.ts';
import type { Installation } from '../manager/install.ts';
import type { Bench } from '../testing/bench.ts';
import { bytesOf, type Fleet } from './fleet.ts';

/** What is not as it should be, one sentence each. */
export interface Findings {
  readonly lost: readonly string[];
  readonly stuck: readonly string[];
}

/** What the installation decides for every injection, read as the manager reads it. */
export const injectorSettings = ({ config }: Installation): InjectorSettings => injectorOf(config);

export const lumigoesIn = async ({ client }: Bench, namespace: string): Promise<readonly LumigoResource[]> =>
  (await listAll(client, { ...contract, namespace })) as unknown as readonly LumigoResource[];

/** Looks at one namespace as it is, through a client of its own, and at what there is of its fleet. */
export async function inspect(
  fleet: Fleet,
  workloads: readonly Workload[],
  injector: InjectorSettings,
): Promise<Findings> {
  const { namespace, exempt, names } = fleet;
  const lumigoes = await lumigoesIn(fleet.bench, namespace);
  const policy = policyOf(lumigoes);
  const there = new Map(workloads.map((workload) => [workload.metadata.name ?? '', workload]));
  const sentence = (name: string, problem: string | undefined) =>
    problem === undefined ? [] : [`${namespace}/${name}: ${problem}`];
  return {
    lost: names.flatMap((name) =>
      exempt.has(name) ? [] : sentence(name, problemOf(there.get(name), fleet.expected(name), policy, injector)),
    ),
    stuck: [
      ...fleet.running.flatMap((name) => sentence(name, whyUnderWay(there.get(name)))),
      ...lumigoes.flatMap((lumigo) => sentence('Lumigo', whyStuck(lumigo, workloads, fleet))),
    ],
  };
}

function problemOf(
  workload: Workload | undefined,
  expected: string | undefined,
  policy: NamespacePolicy,
  injector: InjectorSettings,
): string | undefined {
  if (workload === undefined) return 'it is gone';
  if (policy.state === 'none')
    return bytesOf(workload) === expected ? undefined : 'not as it was before, and there is no Lumigo';
  const now = new Date().toISOString();
  const decision = decide({ workload, operation: 'RECONCILE', policy, injector, now, by: 'controller' });
  if (decision.action !== 'none') return `a fresh decision would ${decision.action}: ${decision.message}`;
  return bytesOf(uninstrument(workload)) === expected ? undefined : 'without the injection not what its user made';
}

/** With an injection that its pods do not bear a workload would never be complete. */
function whyUnderWay(workload: Workload | undefined): string | undefined {
  const { kind } = workload === undefined ? { kind: 'gone' } : completionOf(workload);
  return kind === 'complete' ? undefined : `its rollout is ${kind}`;
}

/** A Lumigo at rest is active, says so of its present generation without a rider, and counts what is there. */
function whyStuck(lumigo: LumigoResource, workloads: readonly Workload[], fleet: Fleet): string | undefined {
  const { deletionTimestamp, finalizers, generation } = lumigo.metadata;
  if (deletionTimestamp !== undefined) return `it is being deleted since ${deletionTimestamp} (${finalizers})`;
  const active = conditionOf(lumigo, 'Active');
  if (active?.status !== 'True') return `it is not active: ${JSON.stringify(lumigo.status?.conditions)}`;
  if (active.observedGeneration !== generation) return 'it speaks of an earlier generation';
  if (fleet.exempt.size > 0) return undefined;
  return active.message === 'Lumigo is ready'
    ? whyUnsettled(lumigo, workloads, fleet)
    : `it has not settled: ${active.message}`;
}

function whyUnsettled(lumigo: LumigoResource, workloads: readonly Workload[], { failing }: Fleet): string | undefined {
  const rolledOut = conditionOf(lumigo, 'RolledOut');
  const isOver = rolledOut?.status !== 'False' || (rolledOut.reason === 'Reverted' && failing !== undefined);
  if (!isOver) return `its rollout is not over: ${rolledOut.message}`;
  const counted = lumigo.status?.instrumentedResourcesCount ?? 0;
  const instrumented = workloads.map(templateOf).filter((template) => template && isInjected(template)).length;
  return counted === instrumented ? undefined : `it counts ${counted}, instrumented are ${instrumented}`;
}

const conditionOf = ({ status }: LumigoResource, name: string) => status?.conditions?.find(({ type }) => type === name);
