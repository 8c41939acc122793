import type { Manifest } from '../manifest.ts';

const kinds =
  (...names: readonly string[]) =>
  ({ kind }: Manifest): boolean =>
    names.includes(kind);

/**
 * A wave goes up when the one before it is there, and down before that one does. The definition comes after the manager
 * although it could come first: on `pulumi destroy` it then goes, and all Lumigo resources with it, while there is still
 * a manager to remove the instrumentation and to answer their finalizers. (The operator would clean up in any order, but within
 * the minute that it has left; so it has as long as it takes.)
 */
const waves = [
  { name: 'api', has: kinds('CustomResourceDefinition', 'MutatingWebhookConfiguration') },
  { name: 'namespace', has: kinds('Namespace') },
  { name: 'operator', has: () => true },
] as const;

export type WaveName = (typeof waves)[number]['name'];

/** In the order in which they go up. */
const order: readonly WaveName[] = ['namespace', 'operator', 'api'];

/** The objects of each wave, the first to go up first; waves that would be empty are left out, and so are Secrets (tokens.ts). */
export function wavesOf(
  manifests: readonly Manifest[],
): readonly { readonly name: WaveName; readonly objs: Manifest[] }[] {
  const open = manifests.filter(({ kind }) => kind !== 'Secret');
  const waveOf = (manifest: Manifest) => waves.find(({ has }) => has(manifest))?.name;
  return order
    .map((name) => ({ name, objs: open.filter((manifest) => waveOf(manifest) === name) }))
    .filter(({ objs }) => objs.length > 0);
}
