import type { Manifest } from '../constructs/manifest.ts';

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
export const getWaves = (
  manifests: readonly Manifest[],
): readonly { readonly name: Wave; readonly objs: Manifest[] }[] => {
  const open = manifests.filter(({ kind }) => kind !== 'Secret').map(withoutAwait);
  return waves
    .map((name) => ({ name, objs: open.filter(({ kind }) => (waveOf[kind] ?? 'operator') === name) }))
    .filter(({ objs }) => objs.length > 0);
};
