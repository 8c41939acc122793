import { synthesize } from '../../infra/operator.ts';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { parseSettings, type Settings } from '../../infra/settings/settings.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { issueAuthority, issueServing } from '../../runtime/certificates/issue.ts';
import type { PodSpec } from '../../runtime/api/objects.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import type { Webhook } from '../../runtime/kubernetes/resources/webhooks.ts';
import { apply, applyDefinition } from './apply.ts';
import { toConfig } from './configuration.ts';

export type Installation = Awaited<ReturnType<typeof install>>;

interface InstallOptions {
  readonly settings?: object;
  /** A port on loopback replaces the webhook's Service. `service`: the webhook is in pods. Default: no webhook. */
  readonly webhook?: number | 'service';
}

/** Without nodes, a rollout would wait for pods that never run. */
export const withoutNodes = { rollout: { strategy: 'immediate' } };

/** Applies each object of `cdk8s synth`. Only the address of the webhook may differ from a cluster with nodes. */
export async function install(client: Client, { settings: given = {}, webhook }: InstallOptions) {
  const settings = parseSettings(given, 'The sandbox');
  const validity = { now: new Date(), days: 365 };
  // The webhook serves a certificate of this authority, which the webhook configuration trusts.
  const authority = await issueAuthority('lumigo-sandbox-webhook', validity);
  const certificate = await issueServing(authority, ['localhost', '127.0.0.1'], validity);
  const manifests = withShortLooks(synthesize(settings), settings);
  await applyManifests(client, { manifests, authority }, webhook);
  const { containers } = managerPod(manifests);
  const find = (wanted: string) => {
    const found = containers.find(({ name }) => name === wanted);
    if (found === undefined) throw new Error(`the manager's pod has no container '${wanted}'`);
    return found;
  };
  const { args = [] } = find('telemetry-proxy');
  const collectorArgs = args.filter((argument) => !argument.startsWith('--config='));
  return { settings, manifests, certificate, authority, config: toConfig(find('manager')), collectorArgs };
}

/** A test with a short soak has short times between two looks at failing pods, for which there is no setting. */
function withShortLooks(manifests: readonly Manifest[], { rollout }: Settings): readonly Manifest[] {
  const seconds = Math.min(20, Math.max(1, 2 * rollout.soakSeconds));
  const text = JSON.stringify(manifests).replace(/(rolloutLookSeconds\\": )\d+/g, `$1${seconds}`);
  return JSON.parse(text) as readonly Manifest[];
}

/** Applies the objects of an installation, also again after a removal. */
export async function applyManifests(
  client: Client,
  { manifests, authority }: Pick<Installation, 'manifests' | 'authority'>,
  webhook?: InstallOptions['webhook'],
): Promise<void> {
  for (const manifest of manifests) {
    if (manifest.kind === 'CustomResourceDefinition') await applyDefinition(client, manifest);
    else if (manifest.kind !== 'MutatingWebhookConfiguration' || webhook === 'service') await apply(client, manifest);
    else if (webhook !== undefined) await apply(client, onLoopback(manifest, webhook, authority.certificate));
  }
}

function onLoopback(manifest: Manifest, port: number, authority: string): Manifest {
  const caBundle = Buffer.from(authority).toString('base64');
  const webhooks = (manifest['webhooks'] as readonly Webhook[]).map((webhook) => ({
    ...webhook,
    clientConfig: { url: `https://127.0.0.1:${port}${webhook.clientConfig.service?.path ?? ''}`, caBundle },
  }));
  return { ...manifest, webhooks };
}

export function managerPod(manifests: readonly Manifest[]): PodSpec {
  const deployment = manifests.find(({ kind }) => kind === 'Deployment');
  const template = deployment && toTemplate(deployment);
  if (template === undefined) throw new Error('the synthesized manifests hold no Deployment');
  return template.spec;
}
