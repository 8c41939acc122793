import { describe, expect, it } from '@jest/globals';
import { injected, settings } from '../../sandbox/testing/injection.ts';
import { annotations, labels } from '../contract.ts';
import { isIntact } from './intact.ts';
import { forEveryInjected } from '../../sandbox/testing/arbitrary/injected-template.ts';
import { remove } from './remove.ts';
import type { Container, Metadata, PodTemplate } from '../api/objects.ts';
import { variables } from './variables.ts';

type Edit = (template: PodTemplate) => PodTemplate;

const inSpec =
  (change: (spec: PodTemplate['spec']) => object): Edit =>
  (template) => ({ ...template, spec: { ...template.spec, ...change(template.spec) } });
const inContainers = (change: (container: Container) => object): Edit =>
  inSpec(({ containers }) => ({ containers: containers.map((each) => ({ ...each, ...change(each) })) }));

const inMetadata =
  (change: (metadata: Metadata) => object): Edit =>
  (template) => ({ ...template, metadata: { ...template.metadata, ...change(template.metadata ?? {}) } });

const added = { name: 'added', image: 'i:1' };
const withVolume = ({ volumes = [] }: PodTemplate['spec']) => ({
  volumes: [...volumes, { name: 'added', emptyDir: {} }],
});
const mounting = ({ volumeMounts = [] }: Container) => ({
  volumeMounts: [...volumeMounts, { name: 'added', mountPath: '/added' }],
});

const edits: readonly (readonly [string, Edit])[] = [
  ['another image', inContainers(() => ({ image: 'next:2' }))],
  ['another variable at the end', inContainers(({ env = [] }) => ({ env: [...env, { name: 'ADDED', value: '1' }] }))],
  ['another variable at the start', inContainers(({ env = [] }) => ({ env: [{ name: 'ADDED', value: '1' }, ...env] }))],
  ['another volume, mounted', (template) => inContainers(mounting)(inSpec(withVolume)(template))],
  [
    'another init container first',
    inSpec(({ initContainers = [] }) => ({ initContainers: [added, ...initContainers] })),
  ],
  ['another container', inSpec(({ containers }) => ({ containers: [...containers, added] }))],
  [
    'another pull secret',
    inSpec(({ imagePullSecrets = [] }) => ({ imagePullSecrets: [...imagePullSecrets, { name: 'b' }] })),
  ],
  [
    'kubectl rollout restart',
    inMetadata((own) => ({ annotations: { ...own.annotations, restartedAt: '2026-01-01' } })),
  ],
];

describe('removing an injection', () => {
  it('keeps each later change', () => {
    forEveryInjected(320, (clean, template) => {
      for (const [change, edit] of edits) expect([change, remove(edit(template))]).toEqual([change, edit(clean)]);
    });
  });

  it('changes nothing if the record is not of the operator', () => {
    const app = { spec: { containers: [{ name: 'app' }] } };
    for (const text of ['nonsense', '5', '{}', JSON.stringify({ ...settings, pullSecrets: 5 })]) {
      const template = inMetadata(() => ({ annotations: { [annotations.injection]: text } }))(app);
      expect(remove(template)).toEqual(template);
      expect(isIntact(injected(template) as PodTemplate, settings)).toBe(true);
    }
  });

  it('leaves a valid pod, whatever is left of the record [D10]', () => {
    forEveryInjected(320, (_clean, template) => {
      const { [annotations.injection]: _record, ...rest } = template.metadata?.annotations ?? {};
      const { spec } = remove({ ...template, metadata: { ...template.metadata, annotations: rest } });
      const volumes = new Set(spec.volumes?.map(({ name }) => name));
      for (const { volumeMounts = [] } of [...spec.containers, ...(spec.initContainers ?? [])])
        for (const { name } of volumeMounts) expect(volumes).toContain(name);
      expect(spec.initContainers?.some(({ name }) => name === 'lumigo-injector') ?? false).toBe(false);
    });
  });
});

const without = (map: Readonly<Record<string, string>> = {}, key: string) =>
  Object.fromEntries(Object.entries(map).filter(([each]) => each !== key));

const others = <T extends { readonly name?: string }>(all: readonly T[] = [], not = 'lumigo-injector') =>
  all.filter(({ name }) => name !== not);

const inInjected = (lose: (container: Container) => object) =>
  inSpec(({ containers, initContainers = [] }) => {
    const change = (container: Container): Container =>
      container.name !== 'lumigo-injector' && container.volumeMounts?.some(({ name }) => name === 'lumigo-injector')
        ? { ...container, ...lose(container) }
        : container;
    return { containers: containers.map(change), initContainers: initContainers.map(change) };
  });

const damages: readonly (readonly [string, Edit])[] = [
  ['the volume', inSpec(({ volumes }) => ({ volumes: others(volumes) }))],
  ['the init container', inSpec(({ initContainers }) => ({ initContainers: others(initContainers) }))],
  ['the label', inMetadata((own) => ({ labels: without(own.labels, labels.autoTrace) }))],
  [
    'the word to the autoscaler',
    inMetadata((own) => ({ annotations: without(own.annotations, annotations.safeToEvict) })),
  ],
  ['a value', inInjected(({ env = [] }) => ({ env: [...env, { name: 'LUMIGO_ENABLE_TRACES', value: 'other' }] }))],
  ['a mount', inInjected(({ volumeMounts }) => ({ volumeMounts: others(volumeMounts) }))],
  ...variables.map(({ name }) => [name, inInjected(({ env }) => ({ env: others(env, name) }))] as const),
];

const withPreload = inInjected(({ env = [] }) => ({
  env: env.map((each) => (each.name === 'LD_PRELOAD' && each.value ? { ...each, value: `${each.value}:/u.so` } : each)),
}));

describe('an injection', () => {
  it('is not intact without each part of it, and is fixed and removed all the same', () => {
    const volume = '"name":"lumigo-injector","emptyDir":{"sizeLimit":"200M"}';
    // Each of them loses every part.
    forEveryInjected(240, (_clean, result) => {
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
    });
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
    forEveryInjected(240, (_clean, result) => expect(isIntact(withPreload(more(result)), settings)).toBe(true));
  });
});
