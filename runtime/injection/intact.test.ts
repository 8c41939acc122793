import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { injected, settings } from '../../sandbox/testing/injection.ts';
import { annotations, labels } from '../contract.ts';
import { isIntact } from './intact.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { remove } from './remove.ts';
import type { Container, PodTemplate } from '../api/objects.ts';
import { variables } from './variables.ts';

type Damage = (template: PodTemplate) => PodTemplate;

const inSpec =
  (change: (spec: PodTemplate['spec']) => object): Damage =>
  (template) => ({ ...template, spec: { ...template.spec, ...change(template.spec) } });

const without = (map: Readonly<Record<string, string>> = {}, key: string) =>
  Object.fromEntries(Object.entries(map).filter(([each]) => each !== key));

const inContainers = (lose: (container: PodTemplate['spec']['containers'][number]) => object) =>
  inSpec(({ containers, initContainers = [] }) => {
    const change = (container: Container): Container =>
      container.name !== 'lumigo-injector' && container.volumeMounts?.some(({ name }) => name === 'lumigo-injector')
        ? { ...container, ...lose(container) }
        : container;
    return { containers: containers.map(change), initContainers: initContainers.map(change) };
  });

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
    ({ name: variable }) =>
      [variable, inContainers(({ env = [] }) => ({ env: env.filter(({ name }) => name !== variable) }))] as const,
  ),
];

describe('an injection', () => {
  it('is not intact without each part of it, and is fixed and removed all the same', () => {
    let damaged = 0;
    const volume = '"name":"lumigo-injector","emptyDir":{"sizeLimit":"200M"}';
    fc.assert(
      fc.property(podTemplate({ unknownFields: true }), (template) => {
        const result = injected(template);
        if (result === undefined) return;
        damaged += 1;
        for (const [lost, damage] of damages) {
          const broken = damage(result);
          const mended = injected(broken);
          expect({
            lost,
            isBroken: !isIntact(broken, settings),
            isMended: mended === undefined || isIntact(mended, settings),
            isRemoved: !JSON.stringify(remove(broken).spec).includes(volume),
          }).toEqual({ lost, isBroken: true, isMended: true, isRemoved: true });
        }
      }),
      { numRuns: 150 },
    );
    expect(damaged).toBeGreaterThan(50);
  });

  it('with additions is intact: others may add, and the API server sets defaults', () => {
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
