import { describe, expect, it } from '@jest/globals';
import type { Manifest } from '../constructs/manifest.ts';
import { synthesize, withEverything } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';
import { getWaves } from './waves.ts';

interface Pod {
  readonly serviceAccountName: string;
  readonly priorityClassName?: string;
  readonly volumes?: readonly { readonly secret?: { readonly secretName: string } }[];
}
interface Spec {
  readonly clusterIP?: string;
  readonly selector?: Readonly<Record<string, string>>;
  readonly template?: { readonly metadata: Manifest['metadata']; readonly spec: Pod };
}

const settings = parseSettings({});
const manifests = synthesize(withEverything(settings), 'Pulumi').filter(({ kind }) => kind !== 'Secret');
const waves = getWaves(manifests).map(({ objs }) => objs);
const specOf = (manifest: Manifest) => (manifest['spec'] ?? {}) as Spec;
const toId = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`;
const waveOf = (wanted: Manifest) => waves.findIndex((objs) => objs.map(toId).includes(toId(wanted)));

/** Returns the objects without which the pods of a workload do not start. */
const neededByPod = ({ serviceAccountName, priorityClassName, volumes = [] }: Pod): string[] => [
  `ServiceAccount/${serviceAccountName}`,
  ...(priorityClassName === undefined ? [] : [`PriorityClass/${priorityClassName}`]),
  ...volumes.flatMap(({ secret }) => (secret === undefined ? [] : [`Secret/${secret.secretName}`])),
];

/** Pulumi waits for a Service until pods answer, unless it has no address. */
const neededByService = ({ selector = {}, clusterIP }: Spec): string[] =>
  manifests
    .filter((manifest) => {
      const labels = specOf(manifest).template?.metadata.labels;
      if (labels === undefined || clusterIP === 'None') return false;
      return Object.entries(selector).every(([key, value]) => labels[key] === value);
    })
    .map(toId);

function neededBy(manifest: Manifest): string[] {
  const { kind, metadata } = manifest;
  const spec = specOf(manifest);
  return [
    ...(metadata.namespace === undefined ? [] : [`Namespace/${metadata.namespace}`]),
    ...(kind === 'Service' ? neededByService(spec) : []),
    ...(kind === 'Deployment' ? neededByPod((spec.template as { spec: Pod }).spec) : []),
  ];
}

describe('the waves of Pulumi', () => {
  it('create each object together with or after the objects for which Pulumi waits', () => {
    const byId = new Map(manifests.map((manifest) => [toId(manifest), manifest]));
    const needs = manifests.flatMap((manifest) => neededBy(manifest).map((id) => ({ manifest, id })));
    expect(needs.filter(({ manifest }) => manifest.kind === 'Service').length).toBeGreaterThan(3);
    const isTooEarly = ({ manifest, id }: (typeof needs)[number]) => {
      const needed = byId.get(id);
      return needed === undefined || waveOf(needed) > waveOf(manifest);
    };
    expect(needs.filter(isTooEarly).map(({ manifest, id }) => `${toId(manifest)} needs ${id}`)).toEqual([]);
  });

  it('do not wait for the node collectors, which after a move start last', () => {
    const unawaited = waves.flat().filter(({ metadata }) => metadata.annotations?.['pulumi.com/skipAwait'] === 'true');
    expect(unawaited.map(({ kind }) => kind)).toEqual(['DaemonSet']);
  });
});
