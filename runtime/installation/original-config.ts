import { fromEnvironment, type RuntimeConfig } from '../config/config.ts';
import { managerContainer, suffixes } from '../contract.ts';
import type { PodTemplate } from '../injection/types.ts';
import type { Client, KubernetesObject } from '../kubernetes/http/client.ts';

/** The original operator's Deployment, which has no component that is ours. */
const originalSelector =
  'app.kubernetes.io/name=lumigo-operator,control-plane=controller-manager,app.kubernetes.io/component!=controller-manager';

declare const __OPERATOR_VERSION__: string;

export const deployments = { group: 'apps', version: 'v1', plural: 'deployments' } as const;

export type ManagerDeployment = KubernetesObject & { readonly spec: { readonly template: PodTemplate } };

/** What this operator would be told in the place of the original that is installed; undefined where none is. */
export async function configOfOriginal(client: Client): Promise<RuntimeConfig | undefined> {
  for await (const { items } of client.pages(deployments, { labelSelector: originalSelector })) {
    const [found] = items as unknown as readonly ManagerDeployment[];
    if (found !== undefined) return configInPlaceOf(found);
  }
  return undefined;
}

function configInPlaceOf({ metadata, spec }: ManagerDeployment): RuntimeConfig {
  const { env = [] } = spec.template.spec.containers.find(({ name }) => name === managerContainer) ?? {};
  const told = (variable: string) => env.find(({ name }) => name === variable)?.value ?? '';
  const name = metadata.name.slice(0, -suffixes.manager.length);
  return fromEnvironment({
    LUMIGO_OPERATOR_VERSION: typeof __OPERATOR_VERSION__ === 'string' ? __OPERATOR_VERSION__ : 'dev',
    LUMIGO_OPERATOR_NAME: name,
    LUMIGO_OPERATOR_NAMESPACE: metadata.namespace ?? '',
    LUMIGO_SERVICE_ACCOUNT: metadata.name,
    LUMIGO_POD_NAME: metadata.name,
    LUMIGO_INJECTOR_IMAGE: told('LUMIGO_INJECTOR_IMAGE'),
    LUMIGO_TELEMETRY_PROXY_URL: told('TELEMETRY_PROXY_OTLP_SERVICE'),
    LUMIGO_WEBHOOK_HOST: `${name}${suffixes.webhookService}.${metadata.namespace ?? ''}.svc`,
    // It is the telemetry proxy's to know, and nothing of a decision depends on it.
    LUMIGO_ENDPOINT: 'http://localhost',
  });
}
