import { decide } from '../../runtime/injection/decide.ts';
import { getPolicy } from '../../runtime/injection/policy.ts';
import { hasInjection, uninstrument } from '../../runtime/injection/remove.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import type { LumigoResource } from '../../runtime/api/lumigo.ts';
import type { InjectorSettings, NamespacePolicy } from '../../runtime/injection/types.ts';
import { getCompletion } from '../../runtime/rollout/completion.ts';
import { getBytes } from '../testing/workloads.ts';
import type { Fleet } from './fleet.ts';

/** Returns findings about the present workloads and `Lumigo` resources of a namespace: `lost` and `stuck`. */
export function inspect(fleet: Fleet, injector: InjectorSettings): string[] {
  const { workloads, lumigoes } = fleet.now;
  const policy = getPolicy(lumigoes);
  const found = new Map(workloads.map((workload) => [workload.metadata.name, workload]));
  const findings: string[] = [];
  const judge = (kind: 'lost' | 'stuck', name: string, problem: string | undefined) => {
    if (problem !== undefined) findings.push(`${kind}: ${fleet.namespace}/${name}: ${problem}`);
  };
  for (const name of fleet.names)
    if (!fleet.exempt.has(name)) judge('lost', name, whyLost(found.get(name), fleet.expected(name), policy, injector));
  for (const name of fleet.running) judge('stuck', name, whyUnderWay(found.get(name)));
  for (const lumigo of lumigoes) judge('stuck', 'Lumigo', whyStuck(lumigo, fleet));
  return findings;
}

function whyLost(
  workload: Workload | undefined,
  expected: string,
  policy: NamespacePolicy,
  injector: InjectorSettings,
): string | undefined {
  if (workload === undefined) return 'it no longer exists';
  if (policy.kind === 'none')
    return getBytes(workload) === expected ? undefined : 'not as its user made it, and there is no Lumigo';
  const now = new Date().toISOString();
  const decision = decide({ workload, operation: 'RECONCILE', policy, injector, now, by: 'controller' });
  if (decision.kind !== 'none') return `a fresh decision would ${decision.kind}: ${decision.message}`;
  return getBytes(uninstrument(workload)) === expected ? undefined : 'without the injection not as its user made it';
}

/** A workload whose pods lack its injection would never be complete. */
function whyUnderWay(workload: Workload | undefined): string | undefined {
  const kind = workload && getCompletion(workload).kind;
  return kind === 'complete' ? undefined : `its rollout is ${kind}`;
}

/** A `Lumigo` at rest is active for its present generation, waits for nothing, and counts the instrumented workloads. */
function whyStuck({ metadata, status = {} }: LumigoResource, fleet: Fleet): string | undefined {
  const active = status.conditions?.find(({ type }) => type === 'Active');
  if (metadata.deletionTimestamp !== undefined) return `it is being deleted (${metadata.finalizers})`;
  if (active?.status !== 'True') return `it is not active: ${JSON.stringify(status.conditions)}`;
  if (active.observedGeneration !== metadata.generation) return 'it is of an earlier generation';
  if (fleet.exempt.size > 0) return undefined;
  if (active.message !== 'Lumigo is ready') return `it waits: ${active.message}`;
  return whyUnsettled(status, fleet);
}

function whyUnsettled(
  { conditions, instrumentedResourcesCount: counted = 0 }: NonNullable<LumigoResource['status']>,
  { failing, now }: Fleet,
): string | undefined {
  const rolledOut = conditions?.find(({ type }) => type === 'RolledOut');
  const isOver = rolledOut?.status !== 'False' || (rolledOut.reason === 'Reverted' && failing !== undefined);
  if (!isOver) return `its rollout is not over: ${rolledOut.message}`;
  const instrumented = now.workloads.filter(hasInjection).length;
  return counted === instrumented ? undefined : `it counts ${counted}, instrumented are ${instrumented}`;
}
