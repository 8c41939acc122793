import { lumigo as contract, optInDefaults, workloads, type WorkloadKind } from '../contract.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { isForbidden, isNotFound, undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { getPolicy, whenExcluded } from '../injection/policy.ts';
import type { Workload } from '../api/objects.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { planWorkload } from '../reconciler/plan-workload.ts';
import { observeWorkload } from '../reconciler/workload-store.ts';
import { toPreview, type NamespacePreview, type Pace } from './render-verdicts.ts';
import { verdictOn, type Verdict, type VerdictContext } from './verdict.ts';

export interface ReadOptions extends VerdictContext {
  readonly transport: Transport;
  readonly isExcluded: (namespace: string) => boolean;
  /** Receives a sentence for each part that is missing from the result. */
  readonly note: (text: string) => void;
}

interface PreviewOptions extends ReadOptions {
  /** Undefined: each namespace with a `Lumigo` resource. */
  readonly namespace: string | undefined;
  /** The policy of a namespace without a `Lumigo` resource. */
  readonly assume: NamespacePolicy | undefined;
  readonly config: Pace;
}

const PAGE_SIZE = 100;
const groupPath = `/apis/${contract.apiVersion}`;

export async function preview(options: PreviewOptions): Promise<readonly NamespacePreview[]> {
  const { namespace, note } = options;
  const lumigoes = await listLumigoes(options);
  const found = new Set(lumigoes.map(({ metadata }) => metadata.namespace));
  const previews: NamespacePreview[] = [];
  for (const each of namespace === undefined ? [...found].sort() : [namespace]) {
    const known = policyIn(each, lumigoes, options);
    const policy = known.kind === 'none' ? (options.assume ?? known) : known;
    const verdicts: Verdict[] = [];
    for (const kind of workloads)
      verdicts.push(...(await verdictsOn(kind, each, policy, options).catch(noneIfForbidden(kind, note))));
    previews.push(toPreview(each, describePolicy(policy), verdicts, options.config));
  }
  return previews;
}

/** Returns the reconciler's plan for a workload that it sees for the first time. */
export const stepFor = (kind: WorkloadKind, { metadata }: Workload, policy: NamespacePolicy) =>
  planWorkload(observeWorkload(kind, metadata), policy, 0);

async function verdictsOn(kind: WorkloadKind, namespace: string, policy: NamespacePolicy, context: VerdictContext) {
  const verdicts: Verdict[] = [];
  for await (const { items } of context.client.pages({ ...kind, namespace }, { limit: PAGE_SIZE }))
    for (const workload of items as readonly Workload[]) {
      // The reconciler would not even read some workloads.
      const step = stepFor(kind, workload, policy);
      const verdict = await verdictOn(kind, workload, policy, context);
      // A Deployment's ReplicaSets and a CronJob's Jobs follow their owner.
      if (verdict === undefined || verdict.decision.code === 'left-to-owner') continue;
      verdicts.push(step.kind === 'nothing' ? unplanned(verdict, step.reason) : verdict);
    }
  return verdicts;
}

function unplanned(verdict: Verdict, reason: string): Verdict {
  if (verdict.decision.kind === 'none') return verdict;
  const message = `Not changed: ${reason}`;
  return { ...verdict, patch: [], decision: { kind: 'none', tried: 'nothing', code: 'up-to-date', message } };
}

/** Without rights, the API server answers 403 even if the add-on is not installed, so no note is necessary. */
export const noneIfForbidden =
  ({ plural, addOn }: WorkloadKind, note: ReadOptions['note']) =>
  (error: unknown): never[] => {
    if (!isForbidden(error)) throw error;
    if (addOn === undefined) note(`Your account cannot list ${plural}, which are left out.`);
    return [];
  };

/** Uses discovery, which is open to each account. The group has this kind alone. */
export const isServed = async (transport: Transport): Promise<boolean> =>
  (await transport.request({ method: 'GET', path: groupPath }).catch(undefinedIfNotFound)) !== undefined;

/** Returns none before an installation. Throws an Error if the account cannot list them. */
export async function listLumigoes({ client, transport, namespace }: Omit<PreviewOptions, 'assume' | 'config'>) {
  try {
    return (await listAll(client, { ...contract, namespace })) as unknown as readonly LumigoResource[];
  } catch (error) {
    // Without rights, the API server answers 403 also if it does not serve them.
    if (isNotFound(error) || (isForbidden(error) && !(await isServed(transport)))) return [];
    if (!isForbidden(error) || namespace !== undefined) throw error;
    throw new Error('your account cannot list Lumigo resources of all namespaces; name one namespace (-n NAMESPACE)', {
      cause: error,
    });
  }
}

export const policyIn = (
  namespace: string,
  lumigoes: readonly LumigoResource[],
  { isExcluded }: Pick<PreviewOptions, 'isExcluded'>,
): NamespacePolicy => {
  const policy = getPolicy(lumigoes.filter(({ metadata }) => metadata.namespace === namespace));
  return isExcluded(namespace) ? whenExcluded(policy) : policy;
};

/** Finds the `Lumigo` resource of a policy. */
export const lumigoOf = (policy: NamespacePolicy, lumigoes: readonly LumigoResource[]): LumigoResource | undefined =>
  'lumigo' in policy ? lumigoes.find(({ metadata }) => metadata.name === policy.lumigo) : undefined;

/** The policy of `--assume-lumigo`: a `Lumigo` resource with the defaults and a valid Secret. */
export const assumedPolicy: NamespacePolicy = {
  kind: 'active',
  lumigo: 'lumigo (assumed)',
  tracing: { secretName: optInDefaults.tokenSecret, secretKey: optInDefaults.tokenKey, traces: true, logs: false },
  createdAt: '',
  injectExisting: true,
  remove: true,
};

export function describePolicy(policy: NamespacePolicy): string {
  if (policy.kind === 'none')
    return 'no Lumigo is in effect. Only workloads with the label lumigo.auto-trace: "true" are instrumented';
  if (policy.kind === 'excluded') return 'it is never instrumented';
  const lumigo = `the Lumigo '${policy.lumigo}'`;
  if (policy.kind === 'inactive') return `${lumigo} is not active (${policy.reason}). Nothing is injected until it is`;
  const words = {
    active: 'is active',
    pods: 'injects into new pods and changes no workload',
    disabled: 'has injection switched off',
    deleting: 'is being deleted',
  };
  return `${lumigo} ${words[policy.kind]}`;
}
