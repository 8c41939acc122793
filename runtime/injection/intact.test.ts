import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { settings } from '../../sandbox/testing/injection.ts';
import { annotations, labels } from '../contract.ts';
import { inject } from './inject.ts';
import { isIntact } from './intact.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { remove } from './remove.ts';
import type { PodTemplate } from '../api/objects.ts';
import type { InjectionSettings } from './types.ts';

/** A later version with other settings of the installation: no damage to what an earlier one wrote. */
const later: InjectionSettings = { ...settings, version: '2.0.0', image: 'autotrace:2', endpoint: 'http://elsewhere' };

type Damage = (template: PodTemplate) => PodTemplate;

const inSpec =
  (change: (spec: PodTemplate['spec']) => object): Damage =>
  (template) => ({ ...template, spec: { ...template.spec, ...change(template.spec) } });

const without = (map: Readonly<Record<string, string>> = {}, key: string) =>
  Object.fromEntries(Object.entries(map).filter(([each]) => each !== key));

/** Every container that has the injection loses what `lose` takes from it. */
const inContainers = (lose: (container: PodTemplate['spec']['containers'][number]) => object) =>
  inSpec(({ containers }) => ({
    containers: containers.map((container) =>
      container.volumeMounts?.some(({ name }) => name === 'lumigo-injector') === true
        ? { ...container, ...lose(container) }
        : container,
    ),
  }));

const variables = [
  'LD_PRELOAD',
  'LUMIGO_TRACER_TOKEN',
  'LUMIGO_ENDPOINT',
  'LUMIGO_LOGS_ENDPOINT',
  'LUMIGO_ENABLE_TRACES',
  'LUMIGO_ENABLE_LOGS',
  'LUMIGO_CONTAINER_NAME',
];

const damages: readonly (readonly [string, Damage])[] = [
  ['the volume', inSpec(({ volumes = [] }) => ({ volumes: volumes.filter(({ name }) => name !== 'lumigo-injector') }))],
  [
    'the init container',
    inSpec(({ initContainers = [] }) => ({
      initContainers: initContainers.filter(({ name }) => name !== 'lumigo-injector'),
    })),
  ],
  [
    'the label',
    (template) => ({
      ...template,
      metadata: { ...template.metadata, labels: without(template.metadata?.labels, labels.autoTrace) },
    }),
  ],
  [
    'the word to the autoscaler',
    (template) => ({
      ...template,
      metadata: { ...template.metadata, annotations: without(template.metadata?.annotations, annotations.safeToEvict) },
    }),
  ],
  [
    'a mount',
    inContainers(({ volumeMounts = [] }) => ({
      volumeMounts: volumeMounts.filter(({ name }) => name !== 'lumigo-injector'),
    })),
  ],
  ...variables.map(
    (variable) =>
      [variable, inContainers(({ env = [] }) => ({ env: env.filter(({ name }) => name !== variable) }))] as const,
  ),
];

function injected(template: PodTemplate): PodTemplate | undefined {
  const result = inject(template, settings);
  return result.refused === undefined ? result.template : undefined;
}

describe('an injection', () => {
  it('is intact for the version that wrote it and for a later one', () => {
    fc.assert(
      fc.property(podTemplate({ unknownFields: true }), (template) => {
        const result = injected(template);
        if (result === undefined) return;
        expect(isIntact(result, settings)).toBe(true);
        expect(isIntact(result, later)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each(damages)('that has lost %s is not, and is mended and removed all the same', (_lost, damage) => {
    let damaged = 0;
    fc.assert(
      fc.property(podTemplate({ unknownFields: true }), (template) => {
        const result = injected(template);
        if (result === undefined) return;
        damaged += 1;
        const broken = damage(result);
        expect(isIntact(broken, settings)).toBe(false);
        const mended = injected(broken);
        expect(mended === undefined || isIntact(mended, settings)).toBe(true);
        expect(JSON.stringify(remove(broken).spec)).not.toContain(
          '"name":"lumigo-injector","emptyDir":{"sizeLimit":"200M"}',
        );
      }),
      { numRuns: 300 },
    );
    expect(damaged).toBeGreaterThan(100);
  });

  it('with more in it than was written is intact: others may add, and the API server fills in', () => {
    const more = inSpec(({ initContainers = [], volumes = [] }) => ({
      initContainers: initContainers.map((each) => ({
        ...each,
        env: [...(each.env ?? []), { name: 'PROXY', value: 'x' }],
        volumeMounts: [...(each.volumeMounts ?? []), { name: 'kube-api-access', mountPath: '/var/run/secrets' }],
      })),
      volumes: [...volumes, { name: 'kube-api-access', emptyDir: {} }],
    }));
    fc.assert(
      fc.property(podTemplate(), (template) => {
        const result = injected(template);
        if (result !== undefined) expect(isIntact(more(result), settings)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
