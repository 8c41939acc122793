import { describe, expect, it } from '@jest/globals';
import { decided, older, tracing } from '../../sandbox/testing/injection.ts';
import { everyKind, createWorkload } from '../../sandbox/testing/workloads.ts';
import { annotations, environment, labels, workloadKinds, type WorkloadKind } from '../contract.ts';
import { remove, uninstrument } from './remove.ts';
import { parseInjectionStatus } from './injection-status.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';

const judge = (workload: unknown) =>
  decided(workload as Workload, { operation: 'CREATE', injector: older, by: 'webhook' });

function beside(kind: WorkloadKind, fields: object): object {
  const made = createWorkload(kind, 'shop', 'app') as unknown as { spec: { jobTemplate?: { spec: object } } };
  const { jobTemplate } = made.spec;
  if (jobTemplate === undefined) return { ...made, spec: { ...made.spec, ...fields } };
  return { ...made, spec: { ...made.spec, jobTemplate: { spec: { ...jobTemplate.spec, ...fields } } } };
}

describe('an injection that the API server would refuse [F22]', () => {
  it.each(everyKind)("is not made if a %s's selector names our label", (_name, kind) => {
    for (const selector of [
      { matchLabels: { app: 'app', [labels.autoTrace]: 'true' } },
      { matchExpressions: [{ key: labels.autoTrace, operator: 'Exists' }] },
    ])
      expect(judge(beside(kind, { selector }))).toMatchObject({
        kind: 'none',
        code: 'refused',
        tried: 'add',
        message: expect.stringContaining('remove the label from the selector'),
      });
    expect(judge(beside(kind, { selector: { matchLabels: { app: 'app' } } })).kind).toBe('inject');
  });

  it('is not made if the annotations of the pod template or workload have no room for it', () => {
    const made = createWorkload(workloadKinds.deployment, 'shop', 'app') as unknown as Workload & {
      spec: { template: PodTemplate };
    };
    const full = { annotations: { note: 'x'.repeat(256 * 1024 - 60) } };
    const { template } = made.spec;
    const ofTemplate = { ...made, spec: { ...made.spec, template: { ...template, metadata: full } } };
    for (const workload of [{ ...made, metadata: { ...made.metadata, ...full } }, ofTemplate])
      expect(judge(workload)).toMatchObject({
        kind: 'none',
        tried: 'add',
        message: expect.stringContaining('annotations would exceed'),
      });
  });

  it('is not made if the values to restore are longer than a record may be', () => {
    const env = [{ name: environment.endpoint, value: 'x'.repeat(70_000) }];
    const decision = judge(createWorkload(workloadKinds.deployment, 'shop', 'app', { env }));
    expect(decision).toMatchObject({ kind: 'none', message: expect.stringContaining('too long') });
  });
});

describe('a forged record [F29]', () => {
  const valid = { endpoint: 'http://proxy', ...tracing };
  const written = { name: environment.endpoint, value: 'http://proxy/v1/traces' };
  const mount = { name: 'lumigo-injector', mountPath: '/opt/lumigo', readOnly: true };
  const forged = (record: object): PodTemplate => ({
    metadata: { annotations: { [annotations.injection]: JSON.stringify(record) } },
    spec: {
      containers: [{ name: 'app', env: [written], volumeMounts: [mount] }],
      volumes: [{ name: 'lumigo-injector', emptyDir: {} }],
    },
  });

  it.each([
    ['a mount without a name', { app: { mount: { mountPath: '/opt/lumigo' } } }],
    ['a mount of a volume that is not there', { app: { mount: { name: 'gone', mountPath: '/opt/lumigo' } } }],
    ['a mount elsewhere', { app: { mount: { name: 'gone', mountPath: '/' } } }],
    ['a variable with a number', { app: { env: [{ name: environment.endpoint, value: 1 }] } }],
    ['a variable without a name', { app: { env: [{ value: 'x' }] } }],
    ['a list', []],
  ])('with %s does not prevent the removal of the injection', (_case, kept) => {
    const [container] = remove(forged({ ...valid, kept })).spec.containers;
    expect(container?.volumeMounts ?? [mount]).toEqual([mount]);
    expect(JSON.stringify(container)).not.toMatch(/gone|"value":1/);
  });

  it('restores no label that Kubernetes would refuse', () => {
    for (const label of ['a b', '-', 'x'.repeat(64), 7]) {
      expect(remove(forged({ ...valid, label })).metadata?.labels).toBeUndefined();
      const injectionStatus = `added now by webhook; secret=s/k traces=true logs=false label=${label}`;
      if (label !== 7) expect(parseInjectionStatus(injectionStatus)).toBeUndefined();
      const workload = createWorkload(workloadKinds.deployment, 'shop', 'app') as unknown as Workload;
      const metadata = { ...workload.metadata, labels: { [labels.autoTrace]: 'lumigo-operator.v1' } };
      const marked = { ...metadata, annotations: { [annotations.instrumentation]: injectionStatus } };
      if (label !== 7) expect(uninstrument({ ...workload, metadata: marked }).metadata.labels).toBeUndefined();
    }
  });
});
