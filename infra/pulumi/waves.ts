import type { Manifest } from '../constructs/manifest.ts';

/**
 * In the order in which they go up: each when the one before it is there, and down before that one does. The definition comes after the
 * manager although it could come first: on `pulumi destroy` it then goes, and all Lumigo resources with it, while there is still
 * a manager to remove the instrumentation and to answer their finalizers. (The operator would clean up in any order, but within
 * the minute that it has left; so it has as long as it takes.)
 */
const waves = ['namespace', 'operator', 'api'] as const;
type Wave = (typeof waves)[number];

const waveOf: Readonly<Record<string, Wave>> = {
  Namespace: 'namespace',
  CustomResourceDefinition: 'api',
  MutatingWebhookConfiguration: 'api',
};

/** The objects of each wave, the first to go up first; waves that would be empty are left out, and so are Secrets (tokens.ts). */
export const wavesOf = (
  manifests: readonly Manifest[],
): readonly { readonly name: Wave; readonly objs: Manifest[] }[] => {
  const open = manifests.filter(({ kind }) => kind !== 'Secret');
  return waves
    .map((name) => ({ name, objs: open.filter(({ kind }) => (waveOf[kind] ?? 'operator') === name) }))
    .filter(({ objs }) => objs.length > 0);
};
