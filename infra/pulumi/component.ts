import { yaml } from '@pulumi/kubernetes';
import {
  ComponentResource,
  log,
  output,
  type ComponentResourceOptions,
  type Input,
  type Output,
  type Resource,
} from '@pulumi/pulumi';
import { suffixes } from '../../runtime/contract.ts';
import { telemetryProxyUrl } from '../constructs/runtime-environment.ts';
import { synthesize } from '../operator.ts';
import { getNotices } from '../settings/notices.ts';
import { registerCertificate } from './certificate.ts';
import { orRefuse } from './refusal.ts';
import { checkToken, registerTokens, tokenPlaceholder } from './tokens.ts';
import { getWaves } from './waves.ts';
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
  readonly monitoredNamespaces: readonly string[];
  /** The expiry of the webhook's certificate (RFC 3339), or empty if the delivery does not create it. The operator renews it before. */
  readonly certificateExpires: Output<string>;

  constructor(name: string, args: LumigoOperatorArgs = {}, options?: ComponentResourceOptions) {
    const settings = orRefuse(() => toSettings(name, args));
    const manifests = orRefuse(() => synthesize(settings, 'Pulumi'));
    super('lumigo:kubernetes:LumigoOperator', name, {}, options);
    for (const notice of getNotices(settings)) void log.info(notice, this);
    this.version = operatorVersion();
    this.namespace = settings.namespace;
    this.deployment = `${settings.name}${suffixes.manager}`;
    this.telemetryProxyUrl = telemetryProxyUrl(settings);
    this.monitoredNamespaces = settings.monitoredNamespaces.flatMap(({ namespace }) => namespace ?? []);
    this.certificateExpires = output('');
    const dependsOn: Resource[] = [];
    const after = () => ({ parent: this, dependsOn: [...dependsOn] });
    for (const { name: wave, objs } of getWaves(manifests)) {
      // The manager would create its own certificate if it started first.
      if (wave === 'operator' && settings.certificates.issuer === 'delivery') {
        const { secret, expires } = registerCertificate(name, settings, after());
        dependsOn.push(secret);
        this.certificateExpires = expires;
      }
      if (wave === 'operator')
        dependsOn.push(...registerTokens(name, manifests, args.lumigoToken ?? settings.lumigoToken.value, after()));
      dependsOn.push(new yaml.v2.ConfigGroup(`${name}-${wave}`, { objs, resourcePrefix: name }, after()));
    }
    this.registerOutputs({
      version: this.version,
      namespace: this.namespace,
      deployment: this.deployment,
      telemetryProxyUrl: this.telemetryProxyUrl,
      monitoredNamespaces: this.monitoredNamespaces,
      certificateExpires: this.certificateExpires,
    });
  }
}

function toSettings(name: string, { settings: given, lumigoToken }: LumigoOperatorArgs): Settings {
  const settings = parseSettings(given, `The settings of '${name}'`);
  if (lumigoToken === undefined) return settings;
  if (typeof lumigoToken === 'string') checkToken(lumigoToken);
  return { ...settings, lumigoToken: { ...settings.lumigoToken, value: tokenPlaceholder } };
}
