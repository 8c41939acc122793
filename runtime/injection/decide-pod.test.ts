import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { active, injected as injectedBy, injector as common, podsPolicy } from '../../sandbox/testing/injection.ts';
import { applyStrictly } from '../../sandbox/testing/apply-patch.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { annotations, injector as contract, labels } from '../contract.ts';
import { decidePod } from './decide-pod.ts';
import { workloadPatch } from './patch.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import type { NamespacePolicy } from './types.ts';

const injector = { ...common, sidecars: ['istio-proxy'] };
const tracing = { secretName: 'lumigo-credentials', secretKey: 'token', traces: true, logs: false };
const policy = podsPolicy(tracing);
const settings = { ...injector, ...tracing };

/** A controller creates pods by `generateName`, so the name is empty. */
const podFrom = ({ metadata, spec }: PodTemplate): Workload => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { ...metadata, generateName: 'app-', namespace: 'shop' },
  spec,
});
const pod = (metadata: PodTemplate['metadata'] = {}, spec: object = {}): Workload =>
  podFrom({ metadata, spec: { containers: [{ name: 'app', image: 'app:1' }], ...spec } });

const decided = (given: Workload, under: NamespacePolicy = policy) => decidePod(given, under, injector);
const after = (given: Workload): Workload => {
  const decision = decided(given);
  return decision.kind === 'none' ? given : decision.workload;
};

describe('a pod, in Pod mode,', () => {
  it('gets what its template would get, by a patch that touches nothing else', () => {
    fc.assert(
      fc.property(podTemplate(), (template) => {
        const given = podFrom(template);
        const decision = decided(given);
        fc.pre(decision.kind === 'inject');
        expect(decision.workload['spec']).toEqual(injectedBy(template, settings)?.spec);
        expect(applyStrictly(given, workloadPatch(given, decision.workload))).toEqual(decision.workload);
        const { generateName, namespace } = decision.workload.metadata;
        expect({ generateName, namespace }).toEqual({ generateName: 'app-', namespace: 'shop' });
        expect(decision.workload.metadata.annotations).not.toHaveProperty([annotations.instrumentation]);
      }),
      { maxSkipsPerRun: 2 },
    );
  });

  it('is not injected twice if its template was, in a namespace that changed its mode', () => {
    const template = { metadata: {}, spec: pod()['spec'] as PodTemplate['spec'] };
    for (const secretName of [settings.secretName, 'old']) {
      const injected = injectedBy(template, { ...settings, secretName }) as PodTemplate;
      expect(decided(podFrom(injected)).code).toBe('up-to-date');
    }
  });

  it('keeps its own label, which a selector may need', () => {
    const own = pod({ labels: { app: 'a', [labels.autoTrace]: 'true' } });
    const injected = after(own);
    expect(injected.metadata.labels).toEqual({ app: 'a', [labels.autoTrace]: 'true' });
    expect(workloadPatch(injected, after(injected))).toEqual([]);
    expect(after(pod()).metadata.labels).toEqual({ [labels.autoTrace]: 'lumigo-operator.v2.0.0' });
  });

  it.each<[string, Workload, string]>([
    ['opts out', pod({ labels: { [labels.autoTrace]: 'False' } }), 'opted-out'],
    ['mirrors a file of its node', pod({ annotations: { [annotations.mirror]: 'x' } }), 'mirror-pod'],
    ['runs on Windows', pod({}, { os: { name: 'windows' } }), 'windows'],
    ['has a volume of that name', pod({}, { volumes: [{ name: contract.volume, emptyDir: {} }] }), 'refused'],
    ['has no room for the record', pod({ annotations: { note: 'x'.repeat(256 * 1024 - 60) } }), 'refused'],
    ['is no pod', { apiVersion: 'v1', kind: 'ConfigMap', metadata: {} }, 'no-template'],
  ])('is skipped if it %s', (_what, given, code) => {
    expect(decided(given)).toMatchObject({ kind: 'none', code, tried: code === 'refused' ? 'add' : 'nothing' });
  });

  it('is skipped without an event if it excludes its one container', () => {
    const excluded = pod({ annotations: { [annotations.excludeContainers]: 'app' } });
    expect(decided(excluded)).toMatchObject({ kind: 'none', code: 'refused', tried: 'nothing' });
  });

  it('is injected in the containers that its annotations name, and not in known sidecars', () => {
    const containers = ['app', 'istio-proxy', 'other'].map((name) => ({ name, image: `${name}:1` }));
    const traced = (given: Workload) =>
      (after(given)['spec'] as PodTemplate['spec']).containers.flatMap(({ name, env }) =>
        env === undefined ? [] : [name],
      );
    expect(traced(pod({}, { containers }))).toEqual(['app', 'other']);
    const chosen = { annotations: { [annotations.injectContainers]: 'other' } };
    expect(traced(pod(chosen, { containers }))).toEqual(['other']);
  });

  it('is injected only if the selector of the Lumigo selects it', () => {
    const selective = { ...policy, selector: { matchLabels: { tier: 'web' } } };
    expect(decided(pod(), selective)).toMatchObject({ kind: 'none', code: 'not-selected', tried: 'nothing' });
    expect(decided(pod({ labels: { tier: 'web' } }), selective).kind).toBe('inject');
  });

  it.each<NamespacePolicy>([{ kind: 'none' }, active])('is skipped under the policy $kind', (under) => {
    expect(decided(pod(), under)).toMatchObject({ kind: 'none', code: 'no-pod-mode', tried: 'nothing' });
  });
});
