import { managerSelector, partOfSelector, suffixes } from '../contract.ts';
import type { Client, KubernetesObject } from '../kubernetes/client.ts';
import type { Installed } from './held-objects.ts';

const deployments = { group: 'apps', version: 'v1', plural: 'deployments' };
const bindings = { group: 'rbac.authorization.k8s.io', version: 'v1', plural: 'clusterrolebindings' };

/**
 * Which operator is to be cleaned up after: the one whose container this is, else the one whose Deployment is in the cluster,
 * else the one whose rights are left of it, which a clean-up that did not end holds. Undefined where there is none of these.
 * @throws Error with their names where there is more than one
 */
export async function findInstalled(client: Client, environment: NodeJS.ProcessEnv): Promise<Installed | undefined> {
  const { LUMIGO_OPERATOR_NAME: operatorName, LUMIGO_OPERATOR_NAMESPACE: operatorNamespace } = environment;
  if (operatorName !== undefined && operatorNamespace !== undefined) return { operatorName, operatorNamespace };
  const deployed = await collect(client, deployments, managerSelector, ({ metadata }) => ({
    operatorName: metadata.name?.slice(0, -suffixes.manager.length) ?? '',
    operatorNamespace: metadata.namespace ?? '',
  }));
  return only(deployed) ?? only(await collect(client, bindings, partOfSelector, ofBinding));
}

function ofBinding(binding: KubernetesObject): Installed | undefined {
  const { metadata, subjects = [] } = binding as KubernetesObject & { subjects?: readonly { namespace?: string }[] };
  if (metadata.name?.endsWith(suffixes.managerRole) !== true) return undefined;
  return {
    operatorName: metadata.name.slice(0, -suffixes.managerRole.length),
    operatorNamespace: subjects[0]?.namespace ?? '',
  };
}

async function collect(
  client: Client,
  ref: typeof deployments,
  labelSelector: string,
  read: (object: KubernetesObject) => Installed | undefined,
): Promise<Installed[]> {
  const found: Installed[] = [];
  for await (const { items } of client.pages(ref, { labelSelector }))
    for (const item of items) found.push(...[read(item)].filter((each) => each !== undefined));
  return found;
}

function only([first, ...others]: readonly Installed[]): Installed | undefined {
  if (first === undefined || others.length === 0) return first;
  const names = [first, ...others].map((each) => `${each.operatorNamespace}/${each.operatorName}`).join(', ');
  throw new Error(`more than one Lumigo operator is installed: ${names}; run this inside the container of one of them`);
}
