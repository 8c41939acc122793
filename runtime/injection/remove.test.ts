import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { injected } from '../../sandbox/testing/injection.ts';
import { annotations } from '../contract.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { remove } from './remove.ts';
import type { Container, PodTemplate } from '../api/objects.ts';

const templates = podTemplate({ unknownFields: true });

/** Fails if no template can be injected. */
function forEveryInjected(judge: (clean: PodTemplate, template: PodTemplate) => void): void {
  let judged = 0;
  fc.assert(
    fc.property(templates, (clean) => {
      const template = injected(clean);
      if (template === undefined) return;
      judged += 1;
      judge(clean, template);
    }),
    { numRuns: 400 },
  );
  expect(judged).toBeGreaterThan(150);
}

type Edit = (template: PodTemplate) => PodTemplate;

const inSpec =
  (change: (spec: PodTemplate['spec']) => object): Edit =>
  (template) => ({ ...template, spec: { ...template.spec, ...change(template.spec) } });
const inContainers = (change: (container: Container) => object): Edit =>
  inSpec(({ containers }) => ({ containers: containers.map((each) => ({ ...each, ...change(each) })) }));

const edits: readonly (readonly [string, Edit])[] = [
  ['another image', inContainers(() => ({ image: 'next:2' }))],
  ['another variable at the end', inContainers(({ env = [] }) => ({ env: [...env, { name: 'ADDED', value: '1' }] }))],
  ['another variable at the start', inContainers(({ env = [] }) => ({ env: [{ name: 'ADDED', value: '1' }, ...env] }))],
  [
    'another volume, mounted',
    (template) =>
      inContainers(({ volumeMounts = [] }) => ({
        volumeMounts: [...volumeMounts, { name: 'added', mountPath: '/added' }],
      }))(inSpec(({ volumes = [] }) => ({ volumes: [...volumes, { name: 'added', emptyDir: {} }] }))(template)),
  ],
  [
    'another init container first',
    inSpec(({ initContainers = [] }) => ({ initContainers: [{ name: 'added', image: 'i:1' }, ...initContainers] })),
  ],
  ['another container', inSpec(({ containers }) => ({ containers: [...containers, { name: 'added', image: 'i:1' }] }))],
  [
    'another pull secret',
    inSpec(({ imagePullSecrets = [] }) => ({ imagePullSecrets: [...imagePullSecrets, { name: 'added' }] })),
  ],
  [
    'kubectl rollout restart',
    (template) => ({
      ...template,
      metadata: {
        ...template.metadata,
        annotations: { ...template.metadata?.annotations, 'kubectl.kubernetes.io/restartedAt': '2026-01-01' },
      },
    }),
  ],
];

describe('removing an injection', () => {
  it('keeps each later change', () => {
    forEveryInjected((clean, template) => {
      for (const [change, edit] of edits) expect([change, remove(edit(template))]).toEqual([change, edit(clean)]);
    });
  });

  it('leaves a valid pod, whatever is left of the record [D10]', () => {
    forEveryInjected((_clean, template) => {
      const { [annotations.injection]: _record, ...rest } = template.metadata?.annotations ?? {};
      const { spec } = remove({ ...template, metadata: { ...template.metadata, annotations: rest } });
      const volumes = new Set(spec.volumes?.map(({ name }) => name));
      for (const { volumeMounts = [] } of [...spec.containers, ...(spec.initContainers ?? [])])
        for (const { name } of volumeMounts) expect(volumes).toContain(name);
      expect(spec.initContainers?.some(({ name }) => name === 'lumigo-injector') ?? false).toBe(false);
    });
  });
});
