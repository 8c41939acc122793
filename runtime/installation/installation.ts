import { fromEnvironment, readForCommand, type CommandConfig, type InjectionConfig } from '../config/config.ts';
import { variables } from '../config/document.ts';
import { fieldManager, managerContainer, managerSelector, suffixes, webhookSelector } from '../contract.ts';
import { listAll, type Client, type KubernetesObject } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { PodTemplate } from '../api/objects.ts';
import { isForbidden, undefinedIf } from '../kubernetes/http/errors.ts';
import { assumedConfig, seenIn } from './assumed.ts';
import { findInstallation, getId, type Installed, type KnownInstallation } from './plan-standby.ts';

export type { Installed } from './plan-standby.ts';

type ManagerDeployment = KubernetesObject & { readonly spec: { readonly template: PodTemplate } };

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

/** The Deployment owns the objects that the operator creates. Its Helm marks let a later chart take them over. */
export async function ownMetadata(client: Client, installed: Installed) {
  const ref = getManager(installed);
  const found = await client.find(ref, { metadataOnly: true });
  const release = Object.entries(found?.metadata.annotations ?? {}).filter(([key]) => key.startsWith('meta.helm.sh/'));
  const manager = release.length > 0 ? 'Helm' : fieldManager;
  return {
    labels: { 'app.kubernetes.io/managed-by': manager },
    annotations: Object.fromEntries(release),
    ownerReferences:
      found === undefined
        ? []
        : [{ apiVersion: 'apps/v1', kind: 'Deployment', name: ref.name, uid: found.metadata.uid }],
  };
}

/** `note` says where the configuration is from, if not from the operator. */
export interface FoundConfig {
  readonly config: InjectionConfig;
  readonly note?: string;
}

/**
 * Finds the configuration in the environment, in the Deployment, or in that of the original operator. An account
 * without rights gets what workloads show, and defaults. Throws an Error if several operators are installed.
 */
export async function findConfig(
  client: Client,
  environment: NodeJS.ProcessEnv,
  namespace?: string,
): Promise<FoundConfig> {
  if (environment[variables.config] !== undefined) return { config: fromEnvironment(environment) };
  const managers = await listManagers(client).catch(undefinedIf(isForbidden));
  if (managers === undefined) return withoutRights(client, namespace);
  const found = only(managers, 'remove all but one');
  if (found !== undefined) return { config: toConfig(found.deployment) };
  const original = await configOfOriginal(client);
  const note = 'No Lumigo operator is installed in this cluster. The default settings are assumed.';
  return original === undefined ? { config: assumedConfig({}, {}), note } : { config: original };
}

async function withoutRights(client: Client, namespace: string | undefined): Promise<FoundConfig> {
  const seen = namespace === undefined ? undefined : await seenIn(client, namespace);
  const what =
    seen === undefined
      ? 'The default settings are assumed.'
      : `The image and the endpoint come from ${seen.from}; the defaults are assumed for the other settings.`;
  return { config: assumedConfig({}, seen ?? {}), note: `Your account cannot read the operator's settings. ${what}` };
}

/** @throws Error if the Deployment has no configuration that this version can use */
export function toConfig({ spec }: ManagerDeployment): CommandConfig {
  const container = spec.template.spec.containers.find(({ name }) => name === managerContainer);
  return readForCommand(container?.env?.find(({ name }) => name === variables.config)?.value ?? '');
}

/** Finds the operator of this container, or the only one of the cluster. Throws an Error if there are several. */
export async function findInstalled(client: Client, environment: NodeJS.ProcessEnv): Promise<Installed | undefined> {
  if (environment[variables.config] !== undefined) return fromEnvironment(environment);
  return only(await listManagers(client), 'run this in the container of one of them');
}

/** Finds the operator of this container by its name, otherwise the first of the cluster. */
export async function findManager(client: Client, environment: NodeJS.ProcessEnv) {
  if (environment[variables.config] === undefined) return (await listManagers(client))[0];
  const { operatorName, operatorNamespace } = fromEnvironment(environment);
  const deployment = await client.find(getManager({ operatorName, operatorNamespace }));
  return deployment && { operatorName, operatorNamespace, deployment: deployment as ManagerDeployment };
}

/** Lists the operators that have a webhook configuration. Only an administrator can create one. */
export async function listInstallations(client: Client): Promise<readonly KnownInstallation[]> {
  const configurations = await listAll(client, kinds.webhooks, { labelSelector: webhookSelector, metadataOnly: true });
  return configurations.flatMap(({ metadata }) => findInstallation(metadata) ?? []);
}

export async function listManagers(client: Client) {
  const deployments = await listAll(client, kinds.deployments, { labelSelector: managerSelector });
  const found = (deployments as unknown as readonly ManagerDeployment[]).map((deployment) => {
    const { name, namespace: operatorNamespace = '' } = deployment.metadata;
    return { operatorName: name.slice(0, -suffixes.manager.length), operatorNamespace, deployment };
  });
  if (found.length < 2) return found;
  // An editor of any namespace can create such a Deployment.
  const known = new Set((await listInstallations(client).catch(undefinedIf(isForbidden)))?.map(getId));
  const proven = found.filter((each) => known.has(getId(each)));
  return proven.length > 0 ? proven : found;
}

function only<T extends Installed>(found: readonly T[], hint: string): T | undefined {
  if (found.length <= 1) return found[0];
  const names = found.map(({ operatorName, operatorNamespace }) => `${operatorNamespace}/${operatorName}`).join(', ');
  throw new Error(`more than one Lumigo operator is installed: ${names}; ${hint}`);
}

/** The original operator's Deployment does not have our component label. */
const originalSelector =
  'app.kubernetes.io/name=lumigo-operator,control-plane=controller-manager,app.kubernetes.io/component!=controller-manager';

async function configOfOriginal(client: Client): Promise<InjectionConfig | undefined> {
  const [found] = await listAll(client, kinds.deployments, { labelSelector: originalSelector });
  return found && getConfigInPlace(found as ManagerDeployment);
}

function getConfigInPlace({ metadata, spec }: ManagerDeployment): InjectionConfig {
  const { env = [] } = spec.template.spec.containers.find(({ name }) => name === managerContainer) ?? {};
  const getVariable = (variable: string) => env.find(({ name }) => name === variable)?.value ?? '';
  const operatorName = metadata.name.slice(0, -suffixes.manager.length);
  return assumedConfig(
    { operatorName, operatorNamespace: metadata.namespace ?? '' },
    { image: getVariable('LUMIGO_INJECTOR_IMAGE'), endpoint: getVariable('TELEMETRY_PROXY_OTLP_SERVICE') },
  );
}
