import { yaml } from '@pulumi/kubernetes';
import { ComponentResource, type ComponentResourceOptions, type Resource } from '@pulumi/pulumi';
import { suffixes } from '../runtime/contract.ts';
import { telemetryProxyUrl } from './constructs/runtime-environment.ts';
import { synthesize, type Manifest } from './manifests.ts';
import { parseSettings } from './settings.ts';

export interface LumigoOperatorArgs {
  /** Settings of the installation that differ from their default (docs/settings.md). */
  readonly settings?: unknown;
}

const kinds =
  (...names: readonly string[]) =>
  ({ kind }: Manifest): boolean =>
    names.includes(kind);

/**
 * A wave goes up when the one before it is there, and down before that one does. The definition comes after the manager
 * although it could come first: on `pulumi destroy` it then goes, and all Lumigo resources with it, while there is still
 * a manager to remove the instrumentation and to answer their finalizers.
 */
const waves = [
  { name: 'lumigoes', has: kinds('Lumigo') },
  { name: 'api', has: kinds('CustomResourceDefinition', 'MutatingWebhookConfiguration') },
  { name: 'operator', has: () => true },
] as const;

/** The manager is ready once it knows the Lumigo resources, so whoever defines those must not wait for it. */
function withoutWaiting(manifest: Manifest): Manifest {
  if (manifest.kind !== 'Deployment') return manifest;
  const annotations = { ...manifest.metadata.annotations, 'pulumi.com/skipAwait': 'true' };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

/** The objects of each wave, the first to go up first. */
export function wavesOf(
  manifests: readonly Manifest[],
): readonly { readonly name: string; readonly objs: Manifest[] }[] {
  const waveOf = (manifest: Manifest) => waves.find(({ has }) => has(manifest))?.name;
  return waves
    .toReversed()
    .map(({ name }) => ({ name, objs: manifests.filter((manifest) => waveOf(manifest) === name).map(withoutWaiting) }))
    .filter(({ objs }) => objs.length > 0);
}

/**
 * The Lumigo operator as one resource, for a program of yours or this project's own stack: the same objects as the plain
 * manifests have.
 * @throws SettingsError where the settings cannot be installed, before anything is registered
 */
export class LumigoOperator extends ComponentResource {
  readonly namespace: string;
  readonly deployment: string;
  /** Where programs send traces and logs to. */
  readonly telemetryProxyUrl: string;
  readonly monitoredNamespaces: readonly string[];

  constructor(name: string, { settings: given }: LumigoOperatorArgs = {}, options?: ComponentResourceOptions) {
    const settings = parseSettings(given, `The settings of '${name}'`);
    super('lumigo:kubernetes:LumigoOperator', name, {}, options);
    const dependsOn: Resource[] = [];
    for (const { name: wave, objs } of wavesOf(synthesize(settings, 'Pulumi')))
      dependsOn.push(new yaml.v2.ConfigGroup(`${name}-${wave}`, { objs }, { parent: this, dependsOn: [...dependsOn] }));
    this.namespace = settings.namespace;
    this.deployment = `${settings.name}${suffixes.manager}`;
    this.telemetryProxyUrl = telemetryProxyUrl(settings);
    this.monitoredNamespaces = settings.monitoredNamespaces.map(({ namespace }) => namespace);
    const { namespace, deployment, telemetryProxyUrl: url, monitoredNamespaces } = this;
    this.registerOutputs({ namespace, deployment, telemetryProxyUrl: url, monitoredNamespaces });
  }
}
