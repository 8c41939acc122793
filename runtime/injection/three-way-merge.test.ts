import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  changed,
  decided,
  injector,
  instrumented,
  made,
  tracing,
  withMetadata,
  withPod,
} from '../../sandbox/testing/injection.ts';
import { forEveryInjected } from '../../sandbox/testing/arbitrary/injected-template.ts';
import { annotations, workloadKinds } from '../contract.ts';
import { isPlainObject } from '../json/values.ts';
import { inject } from './inject.ts';
import { remove, uninstrument } from './remove.ts';
import type { NamespacePolicy } from './types.ts';
import type { Container, EnvVar, PodTemplate, VolumeMount, Workload } from '../api/objects.ts';
import { toTemplate, withTemplate } from './workload.ts';

const over = (live: unknown, sent: unknown): unknown =>
  isPlainObject(live) && isPlainObject(sent)
    ? { ...live, ...Object.fromEntries(Object.entries(sent).map(([key, value]) => [key, over(live[key], value)])) }
    : sent;

/** Writes the mounts of a manifest over those of the live object, by path. The live object's own mounts keep their places. */
function mergeMounts(live: readonly VolumeMount[], sent: readonly VolumeMount[]): readonly VolumeMount[] {
  const at = (mounts: readonly VolumeMount[], path: string) => mounts.find(({ mountPath }) => mountPath === path);
  const written = sent.map((mount) => over(at(live, mount.mountPath) ?? {}, mount) as VolumeMount);
  return live.reduce(
    (all, mount, index) => (at(sent, mount.mountPath) === undefined ? all.toSpliced(index, 0, mount) : all),
    written,
  );
}

/** Writes the variables and mounts of a manifest over those of the live object, as `kubectl apply` and Helm do. */
function merge(live: PodTemplate, { spec: { containers: manifest } }: PodTemplate): PodTemplate {
  const containers = live.spec.containers.map((each): Container => {
    const { env = [], volumeMounts: mounts = [] } = manifest.find(({ name }) => name === each.name) ?? {};
    const sent = new Map(env.map((own) => [own.name, own]));
    return {
      ...each,
      ...(each.env && { env: each.env.map((variable) => over(variable, sent.get(variable.name) ?? {}) as EnvVar) }),
      ...(each.volumeMounts && { volumeMounts: mergeMounts(each.volumeMounts, mounts) }),
    };
  });
  return { ...live, spec: { ...live.spec, containers } };
}

const { job } = workloadKinds;
const TOKEN = 'LUMIGO_TRACER_TOKEN';
const ENDPOINT = 'LUMIGO_ENDPOINT';
const PRELOAD = 'LD_PRELOAD';
const fromMap = (key: string) => ({ valueFrom: { configMapKeyRef: { name: 'own', key } } });
const fromSecret = { valueFrom: { secretKeyRef: { name: 'own', key: 'own' } } };

const withOwn = (name: string, own: object, image = 'app:1') =>
  made({ pod: { containers: [{ name: 'app', image, env: [{ name, ...own }] }] } });
const mergedInto = (live: Workload, manifest: Workload): Workload => {
  const sent = toTemplate(manifest) as PodTemplate;
  const merged = merge(toTemplate(live) as PodTemplate, sent);
  const containers = merged.spec.containers.map((each, index) => ({
    ...each,
    image: sent.spec.containers[index]?.image,
  }));
  return withTemplate(live, { ...merged, spec: { ...merged.spec, containers } } as PodTemplate);
};

const hasUniqueNames = ({ spec }: PodTemplate): boolean =>
  spec.containers.every(({ env = [] }) => new Set(env.map(({ name }) => name)).size === env.length);

describe('a three-way merge of an unchanged manifest', () => {
  it('into an injection is removed exactly', () => {
    forEveryInjected(300, (template, live) => {
      fc.pre(hasUniqueNames(template));
      expect(remove(merge(live, template))).toEqual(template);
    });
  });

  it.each<readonly [string, string, object]>([
    ['a literal token', TOKEN, { value: 'own' }],
    ['a token from a Secret', TOKEN, fromSecret],
    ['a token from a ConfigMap', TOKEN, fromMap('own')],
    ['an endpoint from a ConfigMap', ENDPOINT, fromMap('own')],
  ])('with %s changes nothing', (_what, name, own) => {
    const old = instrumented(withOwn(name, own));
    const decision = decided(mergedInto(old, withOwn(name, own)), { operation: 'UPDATE', old });
    expect(decision).toMatchObject({ code: 'restored', tried: 'nothing' });
    expect(changed(decision)).toEqual(old);
  });
});

describe('a three-way merge of a mount in the place of the injector', () => {
  const withMount = (mount: object, kind = workloadKinds.deployment, image = 'app:1') => {
    const containers = [
      {
        name: 'app',
        image,
        volumeMounts: [
          { name: 'own', ...mount },
          { name: 'own', mountPath: '/x' },
        ],
      },
    ];
    return made({ pod: { containers, volumes: [{ name: 'own', emptyDir: {} }] } }, kind);
  };
  const mounts = [
    { mountPath: '/opt/lumigo' },
    { mountPath: '/opt/lumigo', subPath: 'x' },
    { mountPath: '/opt/lumigo/' },
  ];

  it.each(mounts)('changes nothing if the manifest has not changed: %j', (mount) => {
    for (const kind of [workloadKinds.deployment, job]) {
      const own = withMount(mount, kind);
      const old = instrumented(own, { operation: 'CREATE' });
      const decision = decided(mergedInto(old, own), { operation: 'UPDATE', old });
      expect(decision).toMatchObject({ code: 'restored', tried: 'nothing' });
      expect(changed(decision)).toEqual(old);
    }
  });

  it.each(mounts)('keeps it for the removal if another field has changed: %j', (mount) => {
    const next = withMount(mount, workloadKinds.deployment, 'app:2');
    const old = instrumented(withMount(mount));
    const decision = decided(mergedInto(old, next), { operation: 'UPDATE', old });
    expect(decided(changed(decision)).code).toBe('up-to-date');
    expect(uninstrument(changed(decision))).toEqual(next);
  });

  it('keeps another volume, which replaces it, for the removal', () => {
    const next = withMount({ mountPath: '/opt/lumigo/', subPath: 'new' });
    const merged = mergedInto(instrumented(withMount({ mountPath: '/opt/lumigo/' })), next);
    expect(uninstrument(merged)).toEqual(next);
  });

  it('is repaired if the webhook missed it', () => {
    for (const mount of mounts) {
      const old = instrumented(withMount(mount));
      const repaired = changed(decided(mergedInto(old, withMount(mount))));
      expect(toTemplate(repaired)).toEqual(toTemplate(old));
    }
  });
});

describe('a three-way merge into a Job', () => {
  const withVariable = (name: string, value: string, image = 'app:1') =>
    made({ pod: { containers: [{ name: 'app', image, env: [{ name, value }] }] } }, job);

  it.each([
    [TOKEN, 'own'],
    [PRELOAD, '/own.so'],
  ])('with its own %s changes nothing, so that the API server accepts it', (name, value) => {
    const old = instrumented(withVariable(name, value), { operation: 'CREATE' });
    const update = { operation: 'UPDATE', old, policy: { kind: 'none' } } as const;
    const sent = mergedInto(old, withVariable(name, value));
    expect(changed(decided(sent, update))).toEqual(old);
    expect(decided(old, update).code).toBe('job-update');
    expect(decided(mergedInto(old, withVariable(name, value, 'app:2')), update).code).toBe('job-update');
  });
});

describe('a three-way merge of a changed manifest', () => {
  it.each<readonly [string, string, object, object]>([
    ['a literal', TOKEN, { value: 'own' }, { value: 'new' }],
    ['a reference', TOKEN, fromMap('own'), fromMap('new')],
    ['a reference for a literal', ENDPOINT, fromMap('own'), fromMap('new')],
    ['a reference for LD_PRELOAD', PRELOAD, {}, fromMap('new')],
  ])('keeps %s for the removal', (_what, name, before, after) => {
    const old = instrumented(withOwn(name, before));
    const merged = mergedInto(old, withOwn(name, after));
    expect(uninstrument(merged)).toEqual(withOwn(name, after));
    const decision = decided(merged, { operation: 'UPDATE', old });
    expect(decided(changed(decision)).code).toBe(name === PRELOAD ? 'refused' : 'up-to-date');
    expect(uninstrument(changed(decision))).toEqual(withOwn(name, after));
  });
});

describe('a three-way merge while the webhook changes no injection', () => {
  const policies: readonly NamespacePolicy[] = [
    { kind: 'none' },
    { kind: 'inactive', lumigo: 'l', reason: 'SecretNotFound' },
    { kind: 'disabled', lumigo: 'l', remove: false },
    { kind: 'deleting', lumigo: 'l', remove: true },
  ];
  const cases = policies.flatMap((policy) =>
    [
      [TOKEN, { value: 'own' }] as const,
      [TOKEN, fromMap('own')] as const,
      [ENDPOINT, fromMap('own')] as const,
      [PRELOAD, fromMap('own')] as const,
    ].map(([name, own]) => [name, own, policy.kind, policy] as const),
  );

  it.each(cases)('leaves %s, sent as %j, with one source (%s)', (name, own, _kind, policy) => {
    const old = instrumented(withOwn(name, name === PRELOAD ? {} : own));
    for (const image of ['app:1', 'app:2']) {
      const decision = decided(mergedInto(old, withOwn(name, own, image)), { operation: 'UPDATE', old, policy });
      const message = expect.stringMatching(/'shop' namespace|its injection stays/);
      expect(decision).toMatchObject({ tried: 'nothing', message });
      expect(JSON.stringify(changed(decision))).toBe(JSON.stringify(old).replace('"app:1"', `"${image}"`));
    }
  });

  it('leaves a variable of an init container with one source', () => {
    const inits = (env: readonly object[]) => [{ name: 'init', image: 'i:1', env }];
    const chosen = { annotations: { [annotations.injectContainers]: 'app,init' } };
    const plain = made({
      pod: { containers: [{ name: 'app' }], initContainers: inits([{ name: TOKEN, value: 'own' }]) },
    });
    const old = instrumented(withMetadata(plain, chosen));
    const sent = withPod(old, ({ initContainers = [] }) => ({
      initContainers: initContainers.map((each) => ({
        ...each,
        env: each.env?.map((variable) => (variable.name === TOKEN ? { ...variable, value: 'own' } : variable)),
      })),
    }));
    expect(sent).not.toEqual(old);
    expect(changed(decided(sent, { operation: 'UPDATE', old, policy: { kind: 'none' } }))).toEqual(old);
  });

  it('accepts `valueFrom: null`, which an open definition permits', () => {
    const merged = mergedInto(instrumented(withOwn(ENDPOINT, {})), withOwn(ENDPOINT, { valueFrom: null }));
    expect(uninstrument(merged)).toEqual(withOwn(ENDPOINT, { valueFrom: null }));
  });

  it('does not correct a variable that the injection did not write', () => {
    const both = { value: 'own', ...fromMap('own') };
    const result = inject(toTemplate(withOwn('OWN', both)) as PodTemplate, { ...injector, ...tracing });
    const old = withTemplate(made(), (result as { template: PodTemplate }).template);
    expect(decided(old, { operation: 'UPDATE', old, policy: { kind: 'none' } }).kind).toBe('none');
  });
});
