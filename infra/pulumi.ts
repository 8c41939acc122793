import { yaml } from '@pulumi/kubernetes';
import { Config, type Resource } from '@pulumi/pulumi';
import { synthesize, type Manifest } from './manifests.ts';
import { parseSettings } from './settings.ts';

/** `pulumi up`: the same objects as the plain manifests, as a stack whose configuration has the settings. */

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
  return { ...manifest, metadata: { ...manifest.metadata, annotations: { 'pulumi.com/skipAwait': 'true' } } };
}

function deploy(manifests: readonly Manifest[]): void {
  const dependsOn: Resource[] = [];
  for (const { name } of waves.toReversed()) {
    const objs = manifests.filter((manifest) => waves.find(({ has }) => has(manifest))?.name === name);
    if (objs.length > 0) dependsOn.push(new yaml.v2.ConfigGroup(name, { objs }, { dependsOn: [...dependsOn] }));
  }
}

const settings = parseSettings(new Config().getObject('settings'), 'The stack configuration `settings`');
deploy(synthesize(settings, 'Pulumi').map(withoutWaiting));
