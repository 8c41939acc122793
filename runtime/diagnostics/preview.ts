import { lumigo as contract, optInDefaults, workloads, type WorkloadKind } from '../contract.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { isForbidden, isNotFound } from '../kubernetes/http/errors.ts';
import { policyOf } from '../injection/policy.ts';
import type { Workload } from '../api/objects.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { planWorkload } from '../reconciler/plan-workload.ts';
import { observeWorkload } from '../reconciler/workload-store.ts';
import { previewOf, type NamespacePreview, type Pace } from './render-verdicts.ts';
import { verdictOn, type Verdict, type VerdictContext } from './verdict.ts';

interface PreviewOptions extends VerdictContext {
  /** One namespace; left out: every namespace with a Lumigo. */
  readonly namespace?: string | undefined;
  readonly isExcluded: (namespace: string) => boolean;
  /** What to assume where a namespace has no Lumigo yet: one with the defaults, ready. */
  readonly assume: NamespacePolicy | undefined;
  readonly pace: Pace;
  /** Receives what is missing from the result, in a sentence. */
  readonly note: (text: string) => void;
}

const PAGE_SIZE = 100;

/** Returns what would happen to every workload, namespace by namespace, and changes nothing. */
export async function preview(options: PreviewOptions): Promise<readonly NamespacePreview[]> {
  const { namespace, note } = options;
  const lumigoes = await listLumigoes(options);
  const found = new Set(lumigoes.map(({ metadata }) => metadata.namespace));
  const previews: NamespacePreview[] = [];
  for (const each of namespace === undefined ? [...found].sort() : [namespace]) {
    const known = policyIn(each, lumigoes, options);
    const policy = known.state === 'none' ? (options.assume ?? known) : known;
    const verdicts: Verdict[] = [];
    for (const kind of workloads)
      verdicts.push(...(await verdictsOn(kind, each, policy, options).catch(noneIfForbidden(kind, note))));
    previews.push(previewOf(each, describePolicy(policy), verdicts.filter(isWorthShowing), options.pace));
  }
  return previews;
}

async function verdictsOn(kind: WorkloadKind, namespace: string, policy: NamespacePolicy, context: VerdictContext) {
  const verdicts: Verdict[] = [];
  for await (const { items } of context.client.pages({ ...kind, namespace }, { limit: PAGE_SIZE }))
    for (const workload of items as readonly Workload[]) {
      // The reconciler's own plan says whether it would look at the workload at all.
      const step = planWorkload(observeWorkload(kind, workload.metadata), { policy, isLumigoGone: true }, 0);
      const verdict = await verdictOn(kind, workload, policy, context);
      verdicts.push(step.do === 'nothing' ? unplanned(verdict, step.reason) : verdict);
    }
  return verdicts;
}

/** What is decided about a workload that nobody would ask about says why it is left. */
const unplanned = (verdict: Verdict, reason: string): Verdict =>
  verdict.decision.action === 'none'
    ? verdict
    : {
        ...verdict,
        patch: [],
        decision: { action: 'none', tried: 'nothing', code: 'up-to-date', message: `Not changed: ${reason}` },
      };

/** An account without rights on an add-on's kind gets 403 whether or not the add-on is installed, so nothing is said of it. */
const noneIfForbidden =
  ({ plural, addOn }: WorkloadKind, note: PreviewOptions['note']) =>
  (error: unknown): Verdict[] => {
    if (!isForbidden(error)) throw error;
    if (addOn === undefined) note(`Your account cannot list ${plural}, which are left out.`);
    return [];
  };

/**
 * The Lumigo resources of one namespace, or of all. Before an installation there are none, and no rights on them.
 * @throws Error with what to do if the account may not list those of all namespaces
 */
export async function listLumigoes({
  client,
  namespace,
  note,
}: Pick<PreviewOptions, 'client' | 'namespace' | 'note'>): Promise<readonly LumigoResource[]> {
  try {
    return (await listAll(client, { ...contract, namespace })) as unknown as readonly LumigoResource[];
  } catch (error) {
    if (isNotFound(error)) return [];
    if (!isForbidden(error)) throw error;
    if (namespace === undefined)
      throw new Error(
        'your account cannot list Lumigo resources of all namespaces; name one namespace (-n NAMESPACE)',
        {
          cause: error,
        },
      );
    note(`Your account cannot list Lumigo resources in the '${namespace}' namespace. None is assumed.`);
    return [];
  }
}

/** What holds in a namespace, of the Lumigo resources of several. */
export const policyIn = (
  namespace: string,
  lumigoes: readonly LumigoResource[],
  { isExcluded }: Pick<PreviewOptions, 'isExcluded'>,
): NamespacePolicy =>
  isExcluded(namespace)
    ? { state: 'excluded' }
    : policyOf(lumigoes.filter(({ metadata }) => metadata.namespace === namespace));

/** A Deployment's ReplicaSets and a CronJob's Jobs say nothing of their own. */
const isWorthShowing = ({ decision }: Verdict): boolean => decision.code !== 'left-to-owner';

/** What `--assume-lumigo` assumes: a Lumigo with every default, whose Secret is in order. */
export const assumedPolicy: NamespacePolicy = {
  state: 'active',
  lumigo: 'lumigo (assumed)',
  tracing: { secretName: optInDefaults.tokenSecret, secretKey: optInDefaults.tokenKey, traces: true, logs: false },
  createdAt: '',
  injectExisting: true,
  remove: true,
};

/** A namespace's policy in words. */
export function describePolicy(policy: NamespacePolicy): string {
  const { state } = policy;
  if (state === 'none')
    return 'no Lumigo is in effect. Only workloads with the label lumigo.auto-trace: "true" are instrumented';
  if (state === 'excluded') return 'it is never instrumented';
  const lumigo = `the Lumigo '${policy.lumigo}'`;
  if (state === 'inactive') return `${lumigo} is not active (${policy.reason}). Nothing is injected until it is`;
  const words = {
    active: 'is active',
    pods: 'injects into new pods and changes no workload',
    disabled: 'has injection switched off',
    deleting: 'is being deleted',
  };
  return `${lumigo} ${words[state]}`;
}
