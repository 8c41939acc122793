import { fromEnvironment, type RuntimeConfig } from '../config/config.ts';
import { injector, labels, suffixes, workloads, type WorkloadKind } from '../contract.ts';
import { recordedSettings } from '../injection/intact.ts';
import { isOurs, ourLabel } from '../injection/label.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isForbidden, isNotFound, undefinedIf } from '../kubernetes/http/errors.ts';

declare const __OPERATOR_VERSION__: string;

/** The installation that is assumed if its settings cannot be read: the defaults of the settings. */
export const assumedInstallation = {
  operatorName: 'lumigo-lumigo-operator',
  operatorNamespace: 'lumigo-system',
  injectorImage: 'public.ecr.aws/lumigo/lumigo-autotrace:latest',
} as const;

/** The operator's settings, as far as they can be known without reading its Deployment. */
export interface SeenSettings {
  readonly image?: string | undefined;
  readonly endpoint?: string | undefined;
}

/** The configuration with the default settings, apart from what is known. */
export function assumedConfig(
  installed: { readonly operatorName?: string; readonly operatorNamespace?: string },
  { image, endpoint }: SeenSettings,
): RuntimeConfig {
  const { operatorName: name, operatorNamespace: namespace } = { ...assumedInstallation, ...installed };
  const inCluster = (suffix: string): string => `${name}${suffix}.${namespace}.svc`;
  return fromEnvironment({
    LUMIGO_OPERATOR_VERSION: typeof __OPERATOR_VERSION__ === 'string' ? __OPERATOR_VERSION__ : 'dev',
    LUMIGO_OPERATOR_NAME: name,
    LUMIGO_OPERATOR_NAMESPACE: namespace,
    LUMIGO_SERVICE_ACCOUNT: `${name}${suffixes.manager}`,
    LUMIGO_POD_NAME: name,
    LUMIGO_INJECTOR_IMAGE: image ?? assumedInstallation.injectorImage,
    LUMIGO_TELEMETRY_PROXY_URL: endpoint ?? `http://${inCluster(suffixes.telemetryProxyService)}.cluster.local`,
    LUMIGO_WEBHOOK_HOST: inCluster(suffixes.webhookService),
    // No decision depends on it.
    LUMIGO_ENDPOINT: 'http://localhost',
  });
}

/** Settings that a workload shows, by `Kind/name`. */
type FoundSettings = SeenSettings & { readonly from: string };

/** Reads the settings from the first workload of a namespace that the operator has instrumented. */
export async function seenIn(client: Client, namespace: string): Promise<FoundSettings | undefined> {
  for (const kind of workloads) {
    const seen = await seenOn(client, kind, namespace).catch(undefinedIf(isUnavailable));
    if (seen !== undefined) return seen;
  }
  return undefined;
}

const isUnavailable = (error: unknown): boolean => isForbidden(error) || isNotFound(error);

async function seenOn(client: Client, kind: WorkloadKind, namespace: string): Promise<FoundSettings | undefined> {
  for await (const { items } of client.pages({ ...kind, namespace }, { labelSelector: labels.autoTrace }))
    for (const item of items as readonly Workload[]) {
      const seen = shownBy({ ...item, apiVersion: kind.apiVersion, kind: kind.kind });
      if (seen !== undefined) return seen;
    }
  return undefined;
}

function shownBy(workload: Workload): FoundSettings | undefined {
  const template = isOurs(ourLabel(workload.metadata)) ? templateOf(workload) : undefined;
  const endpoint = template && recordedSettings(template)?.endpoint;
  if (endpoint === undefined) return undefined;
  const image = template?.spec.initContainers?.find(({ name }) => name === injector.container)?.image;
  return { endpoint, image, from: `${workload.kind}/${workload.metadata.name}` };
}
