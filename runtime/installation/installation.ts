import { fromEnvironment, readForCommand } from '../config/config.ts';
import type { CommandConfig, InjectionConfig, RuntimeConfig } from '../config/config.ts';
import { variables } from '../config/document.ts';
import { fieldManager, managerContainer, managerSelector, suffixes, webhookSelector } from '../contract.ts';
import { listAll, type Client, type KubernetesObject } from '../kubernetes/http/client.ts';
import { eventObject, postEvent, type EventDetails } from '../kubernetes/resources/events.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { PodTemplate } from '../api/objects.ts';
import { isForbidden, undefinedIf } from '../kubernetes/http/errors.ts';
import { assumedConfig } from './assumed.ts';
import { actingFirst, findInstallation, getId, type Installed, type KnownInstallation } from './plan-standby.ts';

export type { Installed } from './plan-standby.ts';

export interface ManagerDeployment extends KubernetesObject {
  readonly spec: { readonly template: PodTemplate };
  readonly status?: { readonly availableReplicas?: number };
}

export const getLease = ({ operatorName, operatorNamespace }: Installed) => ({
  ...kinds.leases,
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.lease}`,
});

export const getManager = ({ operatorName, operatorNamespace }: Installed) => ({
  ...kinds.deployments,
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.manager}`,
});

export const clusterRoles = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterroles',
  kind: 'ClusterRole',
} as const;

export const getManagerRole = ({ operatorName }: Installed) => ({
  ...clusterRoles,
  name: `${operatorName}${suffixes.managerRole}`,
});

/** The Deployment owns the objects that the operator creates. Its Helm marks let a later chart take them over. */
export async function ownMetadata(client: Client, installed: Installed) {
  const ref = getManager(installed);
  const found = await client.find(ref, { metadataOnly: true });
  const release = Object.entries(found?.metadata.annotations ?? {}).filter(([key]) => key.startsWith('meta.helm.sh/'));
  const owner = found && { apiVersion: 'apps/v1', kind: 'Deployment', name: ref.name, uid: found.metadata.uid };
  return {
    labels: { 'app.kubernetes.io/managed-by': release.length > 0 ? 'Helm' : fieldManager },
    annotations: Object.fromEntries(release),
    ownerReferences: owner === undefined ? [] : [owner],
  };
}

type Sender = Pick<RuntimeConfig, 'operatorName' | 'operatorNamespace' | 'version' | 'podName'>;

/** Posts an event about the operator's Deployment. Replicas that post the same one store it once. */
export async function reportOnOperator(
  client: Client,
  sender: Sender,
  details: Pick<EventDetails, 'reason' | 'message' | 'key'>,
): Promise<void> {
  const ref = getManager(sender);
  const { uid, resourceVersion } = (await client.get(ref, { metadataOnly: true })).metadata;
  const { namespace, name } = ref;
  const regarding = { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name, uid, resourceVersion };
  const { version, podName: instance } = sender;
  await postEvent(client, eventObject({ ...details, regarding, version, instance, now: new Date() }));
}

interface FoundConfig {
  readonly config: InjectionConfig;
  /** Says if the settings are assumed, or if there are several operators. */
  readonly note?: string | undefined;
}

/** Finds the configuration in the environment or in the operator's Deployment. Without the right to read it, assumes the defaults. */
export async function findConfig(client: Client, environment: NodeJS.ProcessEnv): Promise<FoundConfig> {
  if (environment[variables.config] !== undefined) return { config: fromEnvironment(environment) };
  try {
    const acting = await findActing(client);
    if (acting !== undefined) return { config: toConfig(acting.deployment), note: acting.note };
    return assumed('This Lumigo operator is not installed in this cluster');
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return assumed("Your account cannot read the operator's settings");
  }
}

const assumed = (why: string): FoundConfig => ({
  config: { ...assumedConfig, isAssumed: true },
  note: `${why}. The default settings are assumed, also in dry runs.`,
});

/** @throws Error if the Deployment has no configuration that this version can use */
export function toConfig({ spec }: ManagerDeployment): CommandConfig {
  const container = spec.template.spec.containers.find(({ name }) => name === managerContainer);
  return readForCommand(container?.env?.find(({ name }) => name === variables.config)?.value ?? '');
}

/** Finds the operator of this container by its name, otherwise the one that acts. */
export async function findManager(client: Client, environment: NodeJS.ProcessEnv) {
  if (environment[variables.config] === undefined) return findActing(client);
  const { operatorName, operatorNamespace } = fromEnvironment(environment);
  const found = await client.find(getManager({ operatorName, operatorNamespace }));
  return found && { operatorName, operatorNamespace, deployment: found as ManagerDeployment, note: undefined };
}

/** `note` names the others, which stand by for it. */
export async function findActing(client: Client) {
  const [acting, ...others] = await listManagers(client);
  if (acting === undefined) return undefined;
  if (others.length === 0) return { ...acting, note: undefined };
  const note = `More than one Lumigo operator is installed. ${getId(acting)} acts. Standing by: ${others.map(getId).join(', ')}. Remove all but one, see docs/operate/uninstall.md`;
  return { ...acting, note };
}

/** Lists the operators that have a webhook configuration. Only an administrator can create one. */
export async function listInstallations(client: Client): Promise<readonly KnownInstallation[]> {
  const configurations = await listAll(client, kinds.webhooks, { labelSelector: webhookSelector, metadataOnly: true });
  return configurations.flatMap(({ metadata }) => findInstallation(metadata) ?? []);
}

/** The first one acts, and the others stand by for it. */
export async function listManagers(client: Client) {
  const deployments = await listAll(client, kinds.deployments, { labelSelector: managerSelector });
  const found = (deployments as unknown as readonly ManagerDeployment[]).map((deployment) => {
    const { name, namespace: operatorNamespace = '' } = deployment.metadata;
    const isAvailable = (deployment.status?.availableReplicas ?? 0) > 0;
    return { operatorName: name.slice(0, -suffixes.manager.length), operatorNamespace, deployment, isAvailable };
  });
  if (found.length < 2) return found;
  // An editor of any namespace can create such a Deployment.
  return actingFirst(found, (await listInstallations(client).catch(undefinedIf(isForbidden))) ?? []);
}
