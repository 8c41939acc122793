import { workloads } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { listLumigoes, lumigoOf, noneIfForbidden, policyIn } from './preview.ts';
import type { VerdictContext } from './verdict.ts';
import { statusOfNamespace, type NamespaceStatus } from './rollout-status.ts';

export interface ReadOptions extends Pick<VerdictContext, 'client' | 'injector' | 'config'> {
  readonly namespace: string;
  readonly isExcluded: (namespace: string) => boolean;
  readonly note: (text: string) => void;
}

export async function readStatus(options: ReadOptions): Promise<NamespaceStatus> {
  const { client, namespace, injector, config, note } = options;
  const [lumigoes, ...lists] = await Promise.all([
    listLumigoes(options),
    ...workloads.map(async (kind) => {
      const found = await listAll(client, { ...kind, namespace }).catch(noneIfForbidden(kind, note));
      return (found as readonly Workload[]).map((each) => {
        return { kind, workload: { ...each, apiVersion: kind.apiVersion, kind: kind.kind } };
      });
    }),
  ]);
  const policy = policyIn(namespace, lumigoes, options);
  const lumigo = lumigoOf(policy, lumigoes);
  return statusOfNamespace({ namespace, policy, lumigo, injector, config, workloads: lists.flat() });
}
