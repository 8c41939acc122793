import { synthesize } from '../../infra/operator.ts';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { parseSettings, type Settings } from '../../infra/settings/settings.ts';
import { lumigo } from '../../runtime/contract.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { issueAuthority, issueServing, type KeyPair } from '../../runtime/certificates/issue.ts';
import type { Container, PodSpec } from '../../runtime/api/objects.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { Webhook } from '../../runtime/kubernetes/resources/webhooks.ts';
import { describeError } from '../../runtime/wording/errors.ts';
import { eventually } from '../testing/eventually.ts';
import { apply } from './apply.ts';
import { configOf, type Told } from './configuration.ts';

/** An operator that is installed from its synthesized manifests, and what a manager that runs beside the cluster needs. */
export interface Installation {
  readonly settings: Settings;
  readonly manifests: readonly Manifest[];
  /** What the webhook serves; the webhook configuration trusts its authority. */
  readonly certificate: KeyPair;
  readonly authority: KeyPair;
  /** The configuration that the manifests give the manager's container. */
  readonly config: Told;
  /** What they give the telemetry proxy's on its command line, besides where its configuration is. */
  readonly collectorArgs: readonly string[];
}

export interface InstallOptions {
  /** Settings other than the defaults, as a settings file would say. */
  readonly settings?: object;
  /**
   * Where the webhook answers: beside the cluster, so that its Service is replaced by this port on loopback; or (`service`)
   * in pods, behind its Service. Left out: no webhook.
   */
  readonly webhook?: number | 'service';
  /** Which of the objects; left out: all. */
  readonly only?: (manifest: Manifest) => boolean;
}

/** Where no pod ever runs there is nothing that a rollout could go by. */
export const withoutNodes = { rollout: { strategy: 'immediate' } };

const SERVED_MS = 10_000;

/** A new kind is served a moment after its definition is stored. @throws Error with what the API server said last */
export const awaitDefinition = (client: Client): Promise<void> =>
  eventually(
    async () => {
      const problem = await client
        .pages(lumigo, { limit: 1 })
        .next()
        .then(() => undefined, describeError);
      if (problem !== undefined) throw new Error(`the API server does not serve Lumigo resources yet: ${problem}`);
    },
    { timeoutMs: SERVED_MS },
  );

/** Applies what `cdk8s synth` writes, object by object; only where the webhook is reached differs from a cluster with nodes. */
export async function install(
  client: Client,
  { settings: given = {}, webhook, only = () => true }: InstallOptions,
): Promise<Installation> {
  const settings = parseSettings(given, 'The sandbox');
  const validity = { now: new Date(), days: 365 };
  const authority = await issueAuthority('lumigo-sandbox-webhook', validity);
  const certificate = await issueServing(authority, ['localhost', '127.0.0.1'], validity);
  const manifests = synthesize(settings);
  for (const manifest of manifests.filter(only)) {
    if (manifest.kind !== 'MutatingWebhookConfiguration') await apply(client, manifest);
    else if (webhook === 'service') await apply(client, manifest);
    else if (webhook !== undefined) await apply(client, onLoopback(manifest, webhook, authority.certificate));
    if (manifest.kind === 'CustomResourceDefinition') await awaitDefinition(client);
  }
  return {
    settings,
    manifests,
    certificate,
    authority,
    config: configOf(containerOf(manifests, 'manager')),
    collectorArgs: collectorArgsOf(manifests),
  };
}

function onLoopback(manifest: Manifest, port: number, authority: string): Manifest {
  const caBundle = Buffer.from(authority).toString('base64');
  const given = manifest['webhooks'] as readonly Webhook[] | undefined;
  if (given === undefined) return manifest;
  const webhooks = given.map((webhook) => ({
    ...webhook,
    clientConfig: { url: `https://127.0.0.1:${port}${webhook.clientConfig.service?.path ?? ''}`, caBundle },
  }));
  return { ...manifest, webhooks };
}

/** What the manifests make of the manager's pods. */
export function managerPod(manifests: readonly Manifest[]): PodSpec {
  const deployment = manifests.find(({ kind }) => kind === 'Deployment');
  const template = deployment === undefined ? undefined : templateOf(deployment);
  if (template === undefined) throw new Error('the synthesized manifests hold no Deployment');
  return template.spec;
}

function containerOf(manifests: readonly Manifest[], wanted: string): Container {
  const found = managerPod(manifests).containers.find(({ name }) => name === wanted);
  if (found === undefined) throw new Error(`the synthesized manifests hold no container '${wanted}'`);
  return found;
}

const collectorArgsOf = (manifests: readonly Manifest[]): readonly string[] =>
  (containerOf(manifests, 'telemetry-proxy').args ?? []).filter((argument) => !argument.startsWith('--config='));
