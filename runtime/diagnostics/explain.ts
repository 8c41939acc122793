import { workloads, type WorkloadKind } from '../contract.ts';
import { decidePod } from '../injection/decide-pod.ts';
import { hiddenPreloads } from '../injection/hidden-preload.ts';
import { ourLabel } from '../injection/label.ts';
import { isOriginals } from '../injection/original.ts';
import { stampOf } from '../injection/stamp.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import { findPod } from '../kubernetes/resources/pods.ts';
import { describePolicy, listLumigoes, policyIn } from './preview.ts';
import { outlook, type Outlook } from './render-verdicts.ts';
import { verdictOn, type Verdict, type VerdictContext } from './verdict.ts';

interface ExplainOptions extends VerdictContext {
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
  const { client, namespace, print } = options;
  const pod = podName(options.target);
  if (pod !== undefined) return explainPod(pod, options);
  const { kind, name } = parseTarget(options.target);
  const workload = await client.find({ ...kind, namespace, name });
  if (workload === undefined)
    throw new Error(
      `there is no ${kind.kind} '${name}' in the '${namespace}' namespace. To use another namespace, pass -n`,
    );
  const policy = policyIn(namespace, await listLumigoes(options), options);
  const verdict = await verdictOn(kind, workload as Workload, policy, options);
  print(
    [
      `${kind.kind} ${namespace}/${name}`,
      `  Now:        ${describeNow(workload as Workload)}`,
      `  Namespace:  ${describePolicy(policy)}`,
      `  Decision:   ${verdict.decision.message}`,
      `  Next:       ${describeNext(kind, verdict)}`,
      ...describeElsewhere(verdict, options.injector.endpoint),
      ...describePreloads(workload as Workload),
      '',
    ].join('\n'),
  );
}

/** Says why a pod runs with or without the injection. Only in Pod mode is a pod decided about by itself. */
async function explainPod(name: string, options: ExplainOptions): Promise<void> {
  const { client, namespace, injector, print } = options;
  const pod = await findPod(client, namespace, name);
  if (pod === undefined)
    throw new Error(`there is no Pod '${name}' in the '${namespace}' namespace. To use another namespace, pass -n`);
  const policy = policyIn(namespace, await listLumigoes(options), options);
  const { action, code, message } = decidePod({ pod, policy, injector });
  const now = code === 'up-to-date' ? 'runs with the injection' : 'runs without the injection';
  const next =
    action === 'inject' ? 'its replacement is injected. Delete it, or restart its workload' : 'nothing changes';
  print(
    [
      `Pod ${namespace}/${name}`,
      `  Now:        ${now}`,
      `  Namespace:  ${describePolicy(policy)}`,
      `  Decision:   ${message}`,
      `  Next:       ${next}`,
      ...describePreloads(pod),
      '',
    ].join('\n'),
  );
}

/** The name of a pod, if the target is one. */
const podName = (target: string): string | undefined => /^(?:pod|pods|po)\/([^/]+)$/i.exec(target)?.[1];

/** Those of kubectl. */
const shortNames: Readonly<Record<string, string>> = {
  deploy: 'deployment',
  ds: 'daemonset',
  sts: 'statefulset',
  rs: 'replicaset',
  cj: 'cronjob',
  ro: 'rollout',
};

/** `KIND` is what a person types: `deployment`, `Deployment`, `deployments`, `deploy`, … */
function parseTarget(target: string): { kind: WorkloadKind; name: string } {
  const [kindText = '', name = '', ...rest] = target.split('/');
  const typed = kindText.toLowerCase();
  const known = shortNames[typed] ?? typed;
  const kind = workloads.find((each) => each.kind.toLowerCase() === known || each.plural === known);
  if (kind === undefined || name === '' || rest.length > 0)
    throw new Error(
      `'${target}' is not a workload. Use KIND/NAME, for example deployment/cart (kinds: deployment, daemonset, statefulset, replicaset, cronjob, job, rollout, pod)`,
    );
  return { kind, name };
}

function describeNow(workload: Workload): string {
  const stamp = stampOf(workload.metadata);
  const template = templateOf(workload);
  if (stamp === undefined && template !== undefined && isOriginals(workload, template))
    return `instrumented by the original operator (${ourLabel(workload.metadata)}), not adopted yet`;
  if (stamp === undefined) return 'not instrumented';
  const { change, at, by, tracing, keep } = stamp;
  const signals = [tracing.traces ? 'traces' : 'no traces', tracing.logs ? 'logs' : 'no logs'].join(', ');
  return `instrumented (${change} ${at} by the ${by}; ${signals}; token from Secret '${tracing.secretName}', key '${tracing.secretKey}'${keep === true ? '; stays when its Lumigo is deleted' : ''})`;
}

/** An injection that is left as it is although it sends to another telemetry proxy. */
function describeElsewhere({ decision }: Verdict, endpoint: string): string[] {
  if (decision.action === 'remove' || decision.elsewhere === undefined) return [];
  return [
    `  Sends to:   ${decision.elsewhere}, which is not this operator's telemetry proxy (${endpoint}) and may no longer exist.`,
    "              The next change of its pod template corrects this. To correct it at once, set 'injection.updateOnUpgrade'",
  ];
}

/** What cannot be read from here, and would be lost unsaid. */
const describePreloads = (workload: Workload): string[] =>
  hiddenPreloads(templateOf(workload)?.spec ?? { containers: [] }).map((note) => `  Note:       ${note}`);

const next: Readonly<Record<Outlook, string>> = {
  instrument: 'the reconciler instruments it; ',
  update: 'the reconciler renews its injection; ',
  remove: 'the reconciler removes its injection; ',
  relabel: 'the reconciler corrects its labels; no pod restarts',
  REFUSED: 'the reconciler tries, but the API server refuses the change: ',
  CANNOT: 'nothing, until the cause is fixed',
  untouched: 'nothing changes',
};

function describeNext({ kind }: WorkloadKind, verdict: Verdict): string {
  const what = outlook(verdict);
  const get = what === 'remove' ? 'start without it' : 'start with it';
  const restarts: Readonly<Record<string, string>> = {
    CronJob: `its next Jobs ${get}`,
    ReplicaSet: `its new pods ${get}`,
  };
  const isRollout = what === 'instrument' || what === 'update' || what === 'remove';
  const restart = restarts[kind] ?? 'its pods are replaced according to its update strategy';
  return `${next[what]}${isRollout ? restart : (verdict.refusal ?? '')}`;
}
