import { describe, expect, it } from '@jest/globals';
import { injected as injectedBy, injector, made, tracing } from '../../sandbox/testing/injection.ts';
import { annotations } from '../contract.ts';
import { inject } from './inject.ts';
import { isIntact } from './intact.ts';
import { workloadPatch } from './patch.ts';
import { remove } from './remove.ts';
import type { InjectionSettings } from './types.ts';
import type { PodTemplate } from '../api/objects.ts';

const settings = { ...injector, ...tracing };
const plain: PodTemplate = {
  metadata: { labels: { app: 'app' } },
  spec: { containers: [{ name: 'app', image: 'a' }] },
};
const withSpec = (spec: object): PodTemplate => ({ ...plain, spec: { ...plain.spec, ...spec } });

const injected = (template: PodTemplate, more: Partial<InjectionSettings> = {}) =>
  injectedBy(template, { ...settings, ...more }) as PodTemplate;

describe('odd cases of injection', () => {
  it('a foreign mount of the volume is removed with the volume [D10]', () => {
    const template = injected(withSpec({ initContainers: [{ name: 'mine', image: 'i' }] }));
    const mount = { name: 'lumigo-injector', mountPath: '/x' };
    const initContainers =
      template.spec.initContainers?.map((each) => ({ ...each, volumeMounts: [...(each.volumeMounts ?? []), mount] })) ??
      [];
    expect(remove({ ...template, spec: { ...template.spec, initContainers } }).spec.initContainers).toEqual([
      { name: 'mine', image: 'i' },
    ]);
  });

  it('an annotation that is no record of ours is ignored', () => {
    for (const text of [
      'nonsense',
      '5',
      '{}',
      '{"endpoint":"e","secretName":"s","secretKey":"k","traces":true,"logs":false,"pullSecrets":5}',
    ]) {
      const template = { ...plain, metadata: { ...plain.metadata, annotations: { [annotations.injection]: text } } };
      expect(remove(template)).toEqual(template);
      expect(inject(template, settings)).toHaveProperty('template');
    }
  });

  it('metadata that is present and empty stays', () => {
    const template = { ...plain, metadata: {} };
    expect(remove(injected(template))).toEqual(template);
    const { metadata: _none, ...bare } = plain;
    expect(remove(injected(bare))).toEqual(bare);
  });

  it.each([
    ['/opt//lumigo', 'kept'],
    ['/opt/lumigo/', 'kept'],
    ['/opt//lumigo/x', 'skipped'],
  ])('a mount at %s is read as the container runtime reads it', (mountPath, expected) => {
    const containers = [
      { name: 'app', image: 'a', volumeMounts: [{ name: 'v', mountPath }] },
      { name: 'other', image: 'b' },
    ];
    const template = withSpec({ containers, volumes: [{ name: 'v', emptyDir: {} }] });
    const result = inject(template, settings);
    expect(result.refused === undefined && result.skipped.length === 1).toBe(expected === 'skipped');
    expect(remove(injected(template))).toEqual(template);
  });

  it("a mount of a volume claim template in the injector's directory prevents the injection, as a removal would lose it", () => {
    const containers = [{ name: 'db', image: 'a', volumeMounts: [{ name: 'data', mountPath: '/opt/lumigo' }] }];
    expect(inject(withSpec({ containers }), settings).refused).toMatch(
      /volume claim 'data' is mounted at \/opt\/lumigo/,
    );
  });

  it("a read-only volume above the injector's path prevents the injection", () => {
    const containers = [{ name: 'app', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/opt' }] }];
    const refused = (volume: object) =>
      inject(withSpec({ containers, volumes: [{ name: 'v', ...volume }] }), settings).refused;
    expect(refused({ configMap: { name: 'c' } })).toMatch(/read-only volume 'v' is mounted at \/opt/);
    expect(refused({ emptyDir: {} })).toBeUndefined();
    expect(refused({ image: { reference: 'assets' } })).toMatch(/read-only volume 'v'/);
    expect(refused({ persistentVolumeClaim: { claimName: 'c', readOnly: true } })).toMatch(/read-only volume 'v'/);
    expect(refused({ nfs: { server: 's', path: '/', readOnly: true } })).toMatch(/read-only volume 'v'/);
    expect(refused({ persistentVolumeClaim: { claimName: 'c' } })).toBeUndefined();
  });

  it('one container with a small ephemeral-storage limit suffices for an eviction of the pod', () => {
    const containers = [{ name: 'a', resources: { limits: { 'ephemeral-storage': '100Mi' } } }, { name: 'b' }];
    expect(inject(withSpec({ containers }), settings).refused).toMatch(/are too low/);
  });

  it('OpenShift: no user is set, unless the pod itself sets it', () => {
    const context = (template: PodTemplate) =>
      injected(template, { platform: 'openshift' }).spec.initContainers?.[0]?.['securityContext'];
    expect(context(plain)).not.toHaveProperty('runAsUser');
    expect(context(plain)).not.toHaveProperty('seccompProfile');
    expect(context(withSpec({ securityContext: { runAsUser: 0 } }))).toMatchObject({ runAsUser: 1234 });
    const containers = [{ name: 'a', securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }];
    expect(context(withSpec({ containers }))).toMatchObject({ seccompProfile: { type: 'RuntimeDefault' } });
  });

  it("a changed variable is noticed, and the user's addition to LD_PRELOAD is not", () => {
    const template = injected(plain);
    const intactWith = (name: string, value: string) => {
      const containers = template.spec.containers.map((container) => ({
        ...container,
        env: (container.env ?? []).map((each) => (each.name === name ? { ...each, value } : each)),
      }));
      return isIntact({ ...template, spec: { ...template.spec, containers } }, settings);
    };
    expect(intactWith('LUMIGO_ENABLE_TRACES', 'false')).toBe(false);
    expect(intactWith('LD_PRELOAD', '/opt/lumigo/injector/lumigo_injector.so:/u.so')).toBe(true);
  });

  it('a label may have the name of a property that every object inherits', () => {
    const labelled = (labels: Record<string, string>) => ({ ...made(), metadata: { labels } });
    const patch = (before: Record<string, string>, after: Record<string, string>) =>
      workloadPatch(labelled(before), labelled(after));
    const place = '/metadata/labels';
    expect(patch({ constructor: 'x' }, {})).toEqual([{ op: 'remove', path: `${place}/constructor` }]);
    expect(patch({}, { toString: 'x' })).toEqual([{ op: 'add', path: `${place}/toString`, value: 'x' }]);
  });
});
