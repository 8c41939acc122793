import { lumigo as contract, type WorkloadKind } from '../contract.ts';
import { policyOf } from '../injection/policy.ts';
import { stampOf } from '../injection/stamp.ts';
import type { LumigoResource, NamespacePolicy, Workload } from '../injection/types.ts';
import { isNotFound } from '../kubernetes/errors.ts';
import { describePolicy, kindNamed } from './preview.ts';
import { outlook } from './render-verdicts.ts';
import { verdictOn, type Verdict, type VerdictContext } from './verdict.ts';

export interface ExplainOptions extends VerdictContext {
  /** `KIND/NAME`, as a person types it. */
  readonly target: string;
  readonly namespace: string;
  readonly isExcluded: (namespace: string) => boolean;
  readonly print: (text: string) => void;
}

/**
 * Says in plain words why a workload is or is not instrumented, and what would happen to it next.
 * @throws Error with a sentence for a target that cannot be read or does not exist.
 */
export async function explain(options: ExplainOptions): Promise<void> {
  const { client, namespace, isExcluded, print } = options;
  const { kind, name } = parseTarget(options.target);
  const workload = await readWorkload(options, kind, name);
  const lumigoes: LumigoResource[] = [];
  for await (const { items } of client.pages({ ...contract, namespace }))
    lumigoes.push(...(items as unknown as LumigoResource[]));
  const policy: NamespacePolicy = isExcluded(namespace) ? { state: 'excluded' } : policyOf(lumigoes);
  const verdict = await verdictOn(kind, workload, policy, options);
  print(
    [
      `${kind.kind} ${namespace}/${name}`,
      `  Now:        ${describeNow(workload)}`,
      `  Namespace:  ${describePolicy(policy)}`,
      `  Decision:   ${verdict.decision.message}`,
      `  Next:       ${describeNext(kind, verdict)}`,
      ...describeElsewhere(verdict, options.injector.endpoint),
      '',
    ].join('\n'),
  );
}

function parseTarget(target: string): { kind: WorkloadKind; name: string } {
  const [kindText = '', name = '', ...rest] = target.split('/');
  const kind = kindNamed(kindText);
  if (kind === undefined || name === '' || rest.length > 0)
    throw new Error(
      `'${target}' names no workload; write KIND/NAME, for example deployment/cart (kinds: deployment, daemonset, statefulset, replicaset, cronjob, job)`,
    );
  return { kind, name };
}

async function readWorkload(
  { client, namespace }: ExplainOptions,
  kind: WorkloadKind,
  name: string,
): Promise<Workload> {
  try {
    return (await client.get({ ...kind, namespace, name })) as Workload;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    throw new Error(`there is no ${kind.kind} '${name}' in the '${namespace}' namespace; is it another one (-n)?`, {
      cause: error,
    });
  }
}

function describeNow({ metadata }: Workload): string {
  const stamp = stampOf(metadata);
  if (stamp === undefined) return 'not instrumented';
  const { change, at, by, tracing, keep } = stamp;
  const signals = [tracing.traces ? 'traces' : 'no traces', tracing.logs ? 'logs' : 'no logs'].join(', ');
  return `instrumented (${change} ${at} by the ${by}; ${signals}; token from Secret '${tracing.secretName}', key '${tracing.secretKey}'${keep === true ? '; it stays when its Lumigo goes' : ''})`;
}

/** An injection that is left as it is although it sends to another telemetry proxy. */
function describeElsewhere({ decision }: Verdict, endpoint: string): string[] {
  if (decision.action === 'remove' || decision.elsewhere === undefined) return [];
  return [
    `  Sends to:   ${decision.elsewhere}, which is not this operator's telemetry proxy (${endpoint}) and may be gone;`,
    "              its next pod template gets this operator's, and 'injection.updateOnUpgrade' renews it at once",
  ];
}

function describeNext(kind: WorkloadKind, verdict: Verdict): string {
  const restart =
    kind.kind === 'CronJob'
      ? 'its next Jobs get it'
      : kind.kind === 'ReplicaSet'
        ? 'its new pods get it'
        : 'its pods are replaced, as its update strategy says';
  switch (outlook(verdict)) {
    case 'instrument':
      return `the reconciler instruments it; ${restart}`;
    case 'update':
      return `the reconciler renews its injection; ${restart}`;
    case 'remove':
      return `the reconciler removes its injection; ${restart.replace('get it', 'come without it')}`;
    case 'relabel':
      return 'the reconciler corrects its labels; no pod restarts';
    case 'REFUSED':
      return `the reconciler tries, but the API server refuses the change: ${verdict.refusal ?? ''}`;
    case 'CANNOT':
      return 'nothing, until the cause is gone';
    default:
      return 'nothing; it stays as it is';
  }
}
