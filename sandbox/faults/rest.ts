import { injectorOf } from '../../runtime/config/config.ts';
import { lumigo as contract } from '../../runtime/contract.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { decide } from '../../runtime/injection/decide.ts';
import { policyOf } from '../../runtime/injection/policy.ts';
import { isInjected, uninstrument } from '../../runtime/injection/remove.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type {
  Condition,
  InjectorSettings,
  LumigoResource,
  LumigoStatus,
  NamespacePolicy,
  Workload,
} from '../../runtime/injection/types.ts';
import type { Installation } from '../manager/install.ts';
import { bytesOf, type Fleet } from './fleet.ts';

/** What is not as it should be, one sentence each. */
export interface Findings {
  readonly lost: readonly string[];
  readonly stuck: readonly string[];
}

/** What the installation decides for every injection, read as the manager reads it. */
export const injectorSettings = ({ config }: Installation): InjectorSettings => injectorOf(config);

/** Looks at one namespace as it is, through a client of its own, and at what there is of its fleet. */
export async function inspect(
  fleet: Fleet,
  workloads: readonly Workload[],
  injector: InjectorSettings,
): Promise<Findings> {
  const { bench, namespace } = fleet;
  const lumigoes = (await listAll(bench.client, { ...contract, namespace })) as unknown as readonly LumigoResource[];
  const policy = policyOf(lumigoes);
  const lost: string[] = [];
  const seen = new Set<string>();
  let instrumented = 0;
  for (const workload of workloads) {
    const { name = '' } = workload.metadata;
    seen.add(name);
    const template = templateOf(workload);
    if (template !== undefined && isInjected(template)) instrumented += 1;
    if (fleet.exempt.has(name)) continue;
    const problem = problemOf(workload, fleet.expected(name), policy, injector);
    if (problem !== undefined) lost.push(`${namespace}/${name}: ${problem}`);
  }
  for (const name of fleet.names) if (!seen.has(name)) lost.push(`${namespace}/${name}: it is gone`);
  const stuck = lumigoes.flatMap((lumigo) => whyStuck(lumigo, instrumented, fleet) ?? []);
  return { lost, stuck };
}

function problemOf(
  workload: Workload,
  expected: string | undefined,
  policy: NamespacePolicy,
  injector: InjectorSettings,
): string | undefined {
  if (expected === undefined) return undefined;
  if (policy.state === 'none')
    return bytesOf(workload) === expected ? undefined : 'not as it was before, and there is no Lumigo';
  const now = new Date().toISOString();
  const decision = decide({ workload, operation: 'RECONCILE', policy, injector, now, by: 'controller' });
  if (decision.action !== 'none') return `a fresh decision would ${decision.action}: ${decision.message}`;
  return bytesOf(uninstrument(workload)) === expected ? undefined : 'without the injection not what its user made';
}

/** A Lumigo at rest is active, says so of its present generation without a rider, and counts what is there. */
function whyStuck({ metadata, status }: LumigoResource, instrumented: number, { exempt }: Fleet): string | undefined {
  const { deletionTimestamp, finalizers, generation } = metadata;
  const name = `Lumigo ${metadata.namespace}/${metadata.name}`;
  if (deletionTimestamp !== undefined)
    return `${name} is being deleted since ${deletionTimestamp} (finalizers: ${finalizers})`;
  const condition = status?.conditions?.find(({ type }) => type === 'Active');
  if (condition?.status !== 'True') return `${name} is not active: ${JSON.stringify(status?.conditions)}`;
  if (condition.observedGeneration !== generation) return `${name} speaks of an earlier generation`;
  return exempt.size > 0 ? undefined : whyUnsettled(name, condition, status, instrumented);
}

function whyUnsettled(
  name: string,
  { message }: Condition,
  status: LumigoStatus | undefined,
  instrumented: number,
): string | undefined {
  if (message !== 'Lumigo is ready') return `${name} has not settled: ${message}`;
  const counted = status?.instrumentedResourcesCount ?? 0;
  return counted === instrumented ? undefined : `${name} counts ${counted}, instrumented are ${instrumented}`;
}
