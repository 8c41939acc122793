import { yaml } from '@pulumi/kubernetes';
import { Config, type Resource } from '@pulumi/pulumi';
import { synthesize, type Manifest } from './manifests.ts';
import { parseSettings } from './settings.ts';

/** `pulumi up`: the same objects as the plain manifests, as a stack whose configuration has the settings. */

/** Which wave an object goes up with; a wave starts when the one before it is there, and goes down before that one. */
const waves = [
  { name: 'base', has: ({ kind }: Manifest) => kind === 'Namespace' || kind === 'CustomResourceDefinition' },
  { name: 'manager', has: ({ kind }: Manifest) => kind !== 'MutatingWebhookConfiguration' && kind !== 'Lumigo' },
  { name: 'webhook', has: ({ kind }: Manifest) => kind === 'MutatingWebhookConfiguration' },
  { name: 'lumigoes', has: () => true },
] as const;

function deploy(manifests: readonly Manifest[]): void {
  const dependsOn: Resource[] = [];
  let left = manifests;
  for (const { name, has } of waves) {
    const objs = left.filter(has);
    left = left.filter((manifest) => !objs.includes(manifest));
    if (objs.length > 0) dependsOn.push(new yaml.v2.ConfigGroup(name, { objs }, { dependsOn: [...dependsOn] }));
  }
}

deploy(synthesize(parseSettings(new Config().getObject('settings'), 'The stack configuration `settings`')));
