import { describe, expect, it } from '@jest/globals';
import { changed, decided, injected, made, withMetadata, withRecord } from '../../sandbox/testing/injection.ts';
import { everyKind } from '../../sandbox/testing/workloads.ts';
import { annotations, environment, labels, type WorkloadKind } from '../contract.ts';
import { remove, uninstrument } from './remove.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';
import { toTemplate, withTemplate } from './workload.ts';

const judge = (workload: Workload) => decided(workload, { operation: 'CREATE' });

/** Returns a workload with a field beside its pod template. */
function withSelector(kind: WorkloadKind, selector: object): Workload {
  const workload = made({}, kind);
  const spec = workload['spec'] as { jobTemplate?: { spec: object } };
  const { jobTemplate } = spec;
  const own = jobTemplate === undefined ? { selector } : { jobTemplate: { spec: { ...jobTemplate.spec, selector } } };
  return { ...workload, spec: { ...spec, ...own } };
}

describe('an injection that the API server would refuse [F22]', () => {
  it.each(everyKind)("is not made if a %s's selector names our label", (_name, kind) => {
    const message = expect.stringContaining('remove the label from the selector');
    for (const selector of [
      { matchLabels: { app: 'app', [labels.autoTrace]: 'true' } },
      { matchExpressions: [{ key: labels.autoTrace, operator: 'Exists' }] },
    ])
      expect(judge(withSelector(kind, selector))).toMatchObject({ code: 'refused', tried: 'add', message });
    const others = { matchLabels: { app: 'app' }, matchExpressions: [{ key: 'app', operator: 'Exists' }] };
    expect(judge(withSelector(kind, others)).kind).toBe('inject');
  });

  it('is not made if the annotations of the pod template or workload have no room for it', () => {
    const full = { annotations: { note: 'x'.repeat(256 * 1024 - 60) } };
    const ofTemplate = withTemplate(made(), { ...(toTemplate(made()) as PodTemplate), metadata: full });
    const message = expect.stringContaining('annotations would exceed');
    for (const workload of [withMetadata(made(), full), ofTemplate])
      expect(judge(workload)).toMatchObject({ code: 'refused', tried: 'add', message });
  });

  it('is made while the annotations have just enough room for it', () => {
    const judged = (length: number) => judge(withMetadata(made(), { annotations: { note: 'x'.repeat(length) } }));
    const needed = Object.entries(changed(judged(0)).metadata.annotations ?? {})
      .flat()
      .join('').length;
    const room = 256 * 1024 - needed;
    expect([room, room + 1].map((length) => judged(length).kind)).toEqual(['inject', 'none']);
  });

  it('is not made if the values to restore are longer than a record may be', () => {
    const env = [{ name: environment.endpoint, value: 'x'.repeat(70_000) }];
    expect(judge(made({ env }))).toMatchObject({ kind: 'none', message: expect.stringContaining('too long') });
  });

  it('is made, and removed whole, if they are just as long', () => {
    const long = (length: number) => made({ env: [{ name: environment.endpoint, value: 'x'.repeat(length) }] });
    const recorded = toTemplate(changed(judge(long(0))))?.metadata?.annotations?.[annotations.injection] ?? '';
    const room = 64 * 1024 - recorded.length;
    expect(uninstrument(changed(judge(long(room))))).toEqual(long(room));
    expect(judge(long(room + 1)).kind).toBe('none');
  });
});

describe('a forged record [F29]', () => {
  const clean: PodTemplate = { spec: { containers: [{ name: 'app' }], volumes: [{ name: 'own' }] } };
  const forged = (more: object) => withRecord(injected(clean) as PodTemplate, (record) => ({ ...record, ...more }));

  it.each([
    ['a mount without a name', { app: { mount: { mountPath: '/opt/lumigo' } } }],
    ['a mount of a volume that is not there', { app: { mount: { name: 'gone', mountPath: '/opt/lumigo' } } }],
    ['a mount elsewhere', { app: { mount: { name: 'own', mountPath: '/' } } }],
    ['a variable with a number', { app: { env: [{ name: environment.endpoint, value: 1 }] } }],
    ['a variable without a name', { app: { env: [{ value: 'x' }] } }],
    ['a list', []],
  ])('with %s does not prevent the removal of the injection', (_case, kept) => {
    expect(remove(forged({ kept })).spec.containers).toEqual(clean.spec.containers);
  });

  it.each(['a b', '-', 'x'.repeat(64)])('restores no label that Kubernetes would refuse: %s', (label) => {
    expect(remove(forged({ label })).metadata?.labels).toBeUndefined();
    const text = `added now by webhook; secret=s/k traces=true logs=false label=${label}`;
    const ours = { [labels.autoTrace]: 'lumigo-operator.v1' };
    const marked = withMetadata(made(), { labels: ours, annotations: { [annotations.instrumentation]: text } });
    expect(uninstrument(marked).metadata.labels).toBeUndefined();
  });
});
