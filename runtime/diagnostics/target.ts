import { workloads, type WorkloadKind } from '../contract.ts';

export const parsePodName = (target: string): string | undefined => /^(?:pod|pods|po)\/([^/]+)$/i.exec(target)?.[1];

const shortNames: Readonly<Record<string, string>> = {
  deploy: 'deployment',
  ds: 'daemonset',
  sts: 'statefulset',
  rs: 'replicaset',
  cj: 'cronjob',
  ro: 'rollout',
};

/** `KIND` may be `deployment`, `Deployment`, `deployments` or `deploy`, also with its group: `deployment.apps`. */
export function parseTarget(target: string): { kind: WorkloadKind; name: string } {
  const [kindText = '', name = '', ...rest] = target.split('/');
  const [typed = '', ...group] = kindText.toLowerCase().split('.');
  const known = shortNames[typed] ?? typed;
  const possible = group.length === 0 ? workloads : workloads.filter((each) => each.group === group.join('.'));
  const kind = possible.find((each) => each.kind.toLowerCase() === known || each.plural === known);
  if (kind === undefined || name === '' || rest.length > 0)
    throw new Error(
      `'${target}' is not a workload. Use KIND/NAME, for example deployment/cart (kinds: deployment, daemonset, statefulset, replicaset, cronjob, job, rollout, pod)`,
    );
  return { kind, name };
}
