import { yaml } from '@pulumi/kubernetes';
import { ComponentResource, log, type ComponentResourceOptions, type Input, type Resource } from '@pulumi/pulumi';
import { suffixes } from '../../runtime/contract.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { telemetryProxyUrl } from '../constructs/runtime-environment.ts';
import { synthesize } from '../operator.ts';
import { getNotices } from '../settings/notices.ts';
import { registerCertificate } from './certificate.ts';
import { orRefuse } from './refusal.ts';
import { checkToken, registerTokens, tokenPlaceholder } from './tokens.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';
import { operatorVersion } from '../settings/version.ts';

export interface LumigoOperatorArgs {
  /** Settings of the installation that differ from their default (docs/reference/settings.md). */
  readonly settings?: unknown;
  /** The token (`lumigoToken.value`). It stays secret in state and output. */
  readonly lumigoToken?: Input<string> | undefined;
}

/**
 * The Lumigo operator as one resource: the objects of the plain manifests, and a certificate for the webhook.
 * @throws RunError if the settings cannot be installed. Pulumi shows it without a stack trace, and registers nothing.
 *
 * @example
 * ```ts
 * import { LumigoOperator } from 'lumigo-kubernetes-operator/pulumi';
 *
 * export const { version } = new LumigoOperator('lumigo', { settings: { cluster: { name: 'production' } } });
 * ```
 */
export class LumigoOperator extends ComponentResource {
  readonly version: string;
  readonly namespace: string;
  readonly deployment: string;
  /** The address for traces and logs of programs. */
  readonly telemetryProxyUrl: string;

  constructor(name: string, args: LumigoOperatorArgs = {}, options?: ComponentResourceOptions) {
    const settings = orRefuse(() => toSettings(name, args));
    const manifests = orRefuse(() => synthesize(settings, 'Pulumi'));
    super('lumigo:kubernetes:LumigoOperator', name, {}, options);
    for (const notice of getNotices(settings)) void log.info(notice, this);
    this.version = operatorVersion();
    this.namespace = settings.namespace;
    this.deployment = `${settings.name}${suffixes.manager}`;
    this.telemetryProxyUrl = telemetryProxyUrl(settings);
    const dependsOn: Resource[] = [];
    const after = () => ({ parent: this, dependsOn: [...dependsOn] });
    for (const { name: wave, objs } of getWaves(manifests)) {
      // The manager would create its own certificate if it started first.
      if (wave === 'operator' && settings.certificates.issuer === 'delivery')
        dependsOn.push(registerCertificate(name, settings, after()));
      if (wave === 'operator')
        dependsOn.push(...registerTokens(name, manifests, args.lumigoToken ?? settings.lumigoToken.value, after()));
      dependsOn.push(new yaml.v2.ConfigGroup(`${name}-${wave}`, { objs }, after()));
    }
    const { version, namespace, deployment } = this;
    this.registerOutputs({ version, namespace, deployment, telemetryProxyUrl: this.telemetryProxyUrl });
  }
}

function toSettings(name: string, { settings: given, lumigoToken }: LumigoOperatorArgs): Settings {
  const settings = parseSettings(given, `The settings of '${name}'`);
  if (lumigoToken === undefined) return settings;
  if (typeof lumigoToken === 'string') checkToken(lumigoToken);
  return { ...settings, lumigoToken: { ...settings.lumigoToken, value: tokenPlaceholder } };
}

/** Created in this order and destroyed in reverse, so the manager still runs while the definition and its `Lumigo` resources are deleted. */
const waves = ['namespace', 'operator', 'api'] as const;
type Wave = (typeof waves)[number];

const waveOf: Readonly<Record<string, Wave>> = {
  Namespace: 'namespace',
  CustomResourceDefinition: 'api',
  MutatingWebhookConfiguration: 'api',
};

/** After a rename or a move, the node collectors start only when Pulumi has deleted the former installation, which it does last. */
const withoutAwait = (manifest: Manifest): Manifest => {
  if (manifest.kind !== 'DaemonSet') return manifest;
  const annotations = { ...manifest.metadata.annotations, 'pulumi.com/skipAwait': 'true' };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
};

/** Returns the objects of each wave, without empty waves and Secrets (tokens.ts). */
const getWaves = (manifests: readonly Manifest[]): readonly { readonly name: Wave; readonly objs: Manifest[] }[] => {
  const open = manifests.filter(({ kind }) => kind !== 'Secret').map(withoutAwait);
  return waves
    .map((name) => ({ name, objs: open.filter(({ kind }) => (waveOf[kind] ?? 'operator') === name) }))
    .filter(({ objs }) => objs.length > 0);
};
