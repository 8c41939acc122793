import { assumedSettings, type InjectionConfig } from '../config/config.ts';
import { programVersion } from '../config/version.ts';
import { labels, suffixes, workloads, type WorkloadKind } from '../contract.ts';
import { findInjector } from '../injection/init-container.ts';
import { injectedSettings } from '../injection/intact.ts';
import { isOurs, ourLabel } from '../injection/label.ts';
import type { Workload } from '../api/objects.ts';
import { toTemplate } from '../injection/workload.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isForbidden, undefinedIf } from '../kubernetes/http/errors.ts';
import type { Installed } from './plan-standby.ts';

export const assumedInstallation = {
  operatorName: 'lumigo-lumigo-operator',
  operatorNamespace: 'lumigo-system',
  injectorImage: 'public.ecr.aws/lumigo/lumigo-autotrace:latest',
} as const;

/** Settings that are known without the operator's Deployment. */
interface SeenSettings {
  readonly image?: string | undefined;
  readonly endpoint?: string | undefined;
}

export function assumedConfig(installed: Partial<Installed>, { image, endpoint }: SeenSettings): InjectionConfig {
  const { operatorName, operatorNamespace, injectorImage } = { ...assumedInstallation, ...installed };
  const proxy = `${operatorName}${suffixes.telemetryProxyService}.${operatorNamespace}.svc.cluster.local`;
  return {
    ...assumedSettings,
    version: programVersion,
    operatorNamespace,
    injectorImage: image ?? injectorImage,
    telemetryProxyUrl: endpoint ?? `http://${proxy}`,
  };
}

/** `from` is `Kind/name`. */
type FoundSettings = SeenSettings & { readonly from: string };

export async function seenIn(client: Client, namespace: string): Promise<FoundSettings | undefined> {
  for (const kind of workloads) {
    const seen = await seenOn(client, kind, namespace).catch(undefinedIf(isForbidden));
    if (seen !== undefined) return seen;
  }
  return undefined;
}

async function seenOn(client: Client, kind: WorkloadKind, namespace: string): Promise<FoundSettings | undefined> {
  for await (const { items } of client.pages({ ...kind, namespace }, { labelSelector: labels.autoTrace }))
    for (const item of items) {
      const seen = shownBy({ ...item, apiVersion: kind.apiVersion, kind: kind.kind });
      if (seen !== undefined) return seen;
    }
  return undefined;
}

function shownBy(workload: Workload): FoundSettings | undefined {
  const template = isOurs(ourLabel(workload.metadata)) ? toTemplate(workload) : undefined;
  const endpoint = template && injectedSettings(template)?.endpoint;
  if (endpoint === undefined) return undefined;
  const image = findInjector(template?.spec)?.image;
  return { endpoint, image, from: `${workload.kind}/${workload.metadata.name}` };
}
