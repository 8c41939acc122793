import { fromEnvironment, type RuntimeConfig } from '../config.ts';
import { managerContainer, managerSelector } from '../contract.ts';
import type { PodTemplate } from '../injection/types.ts';
import type { Client } from '../kubernetes/client.ts';

interface ManagerDeployment {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly spec: { readonly template: PodTemplate };
}

/**
 * The configuration of the operator: from this process's environment inside the container, else from the Deployment of
 * the operator that is installed in the cluster, so that anybody with a kubeconfig can ask what it would do.
 * @throws Error when no operator is installed, or more than one; ConfigError when its environment makes no sense.
 */
export async function findConfig(client: Client, environment: NodeJS.ProcessEnv): Promise<RuntimeConfig> {
  if (environment['LUMIGO_OPERATOR_NAME'] !== undefined) return fromEnvironment(environment);
  const found: ManagerDeployment[] = [];
  const deployments = { group: 'apps', version: 'v1', plural: 'deployments' };
  for await (const { items } of client.pages(deployments, { labelSelector: managerSelector }))
    found.push(...(items as unknown as ManagerDeployment[]));
  const [only, ...others] = found;
  if (only === undefined)
    throw new Error(
      'no Lumigo operator is installed in this cluster; install it first, or run this inside its container',
    );
  if (others.length > 0)
    throw new Error(`more than one Lumigo operator is installed: ${found.map(nameOf).join(', ')}; remove all but one`);
  const container = only.spec.template.spec.containers.find(({ name }) => name === managerContainer);
  // The API server leaves out an empty value. The pod's name comes from the downward API; outside of it the Deployment's name stands in.
  const variables = (container?.env ?? []).map(({ name, value = '', valueFrom }) => [
    name,
    valueFrom === undefined ? value : only.metadata.name,
  ]);
  return fromEnvironment(Object.fromEntries(variables));
}

const nameOf = ({ metadata }: ManagerDeployment): string => `${metadata.namespace}/${metadata.name}`;
