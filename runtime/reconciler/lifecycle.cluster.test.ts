import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { labels, workloadKinds } from '../contract.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { everyKind, mutableKinds, workloadOf } from '../../sandbox/testing/workloads.ts';

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const { job } = workloadKinds;
const injection = (settings: object) => ({ tracing: { injection: settings } });

describe('workloads that exist before the Lumigo', () => {
  it.each(mutableKinds)('a %s is instrumented, listed and reported, and restored to the byte', async (_name, kind) => {
    const { bench } = operator;
    const namespace = await bench.namespace('before');
    const env = [
      { name: 'LD_PRELOAD', value: '/mine.so' },
      { name: 'LUMIGO_ENDPOINT', value: 'http://mine' },
    ];
    const created = await bench.create(workloadOf(kind, namespace, 'old', { env }));
    const template = await bench.templateOf(kind, namespace, 'old');
    await bench.activate(namespace);
    await bench.whenInstrumented(kind, namespace, 'old');
    await eventually(async () => {
      const { status } = await bench.readLumigo(namespace);
      expect(status?.instrumentedResourcesCount).toBe(1);
      expect(status?.instrumentedResources).toMatchObject([
        { kind: kind.kind, name: 'old', uid: created.metadata.uid },
      ]);
    });
    await bench.deleteLumigo(namespace);
    const after = await bench.get(kind, namespace, 'old');
    expect(JSON.stringify(await bench.templateOf(kind, namespace, 'old'))).toBe(JSON.stringify(template));
    expect(after.metadata.labels).toEqual(created.metadata.labels);
    expect(Object.keys(after.metadata.annotations ?? {}).filter((key) => key.includes('lumigo'))).toEqual([]);
    await eventually(async () =>
      expect((await bench.events(namespace, 'old')).map(({ reason }) => reason).sort()).toEqual([
        'LumigoAddedInstrumentation',
        'LumigoRemovedInstrumentation',
      ]),
    );
  });

  it('a Job cannot be changed, as an event says, and one that is opted out gets no event', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('jobs');
    await bench.create(workloadOf(job, namespace, 'import'));
    await bench.create(workloadOf(job, namespace, 'quiet', { labels: { [labels.autoTrace]: 'false' } }));
    await bench.activate(namespace);
    await eventually(async () =>
      expect((await bench.events(namespace, 'import')).map(({ reason }) => reason)).toEqual([
        'LumigoCannotAddInstrumentation',
      ]),
    );
    expect(await bench.events(namespace, 'quiet')).toEqual([]);
    expect(await bench.isInstrumented(job, namespace, 'import')).toBe(false);
  });

  it('are not changed if the Lumigo says so, and newer ones are', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('existing');
    await bench.create(workloadOf(deployment, namespace, 'old'));
    await bench.activate(namespace, injection({ injectLumigoIntoExistingResourcesOnCreation: false }));
    await bench.create(workloadOf(deployment, namespace, 'new'));
    await bench.whenInstrumented(deployment, namespace, 'new');
    expect(await bench.isInstrumented(deployment, namespace, 'old')).toBe(false);
  });
});

describe('deleting a Lumigo', () => {
  it.each(everyKind)('keeps a %s instrumented if it says so', async (_name, kind) => {
    const { bench } = operator;
    const namespace = await bench.namespace('keeps');
    await bench.activate(namespace, injection({ removeLumigoFromResourcesOnDeletion: false }));
    await bench.whenWebhookInjects(namespace);
    await bench.create(workloadOf(kind, namespace, 'kept'));
    expect(await bench.isInstrumented(kind, namespace, 'kept')).toBe(true);
    const before = await bench.templateOf(kind, namespace, 'kept');
    await bench.deleteLumigo(namespace);
    expect(await bench.templateOf(kind, namespace, 'kept')).toEqual(before);
  });

  it('removes injections although the Lumigo lost its Secret and is no longer active [D13, D39]', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('inactive');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app'));
    await bench.client.delete({ group: '', version: 'v1', plural: 'secrets', namespace, name: 'lumigo-credentials' });
    await bench.changeLumigo(namespace, { spec: { lumigoToken: { secretRef: { name: 'gone' } } } });
    await eventually(async () => {
      const { status } = await bench.readLumigo(namespace);
      expect(status?.conditions?.find(({ type }) => type === 'Active')).toMatchObject({
        status: 'False',
        reason: 'SecretNotFound',
      });
    });
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(true);
    await bench.deleteLumigo(namespace);
    expect(await bench.isInstrumented(deployment, namespace, 'app')).toBe(false);
  });

  it('removes an init container with additions of another writer [D10]', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('meddled');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app'));
    const path = '/spec/template/spec/initContainers/0/env/-';
    const operations = [{ op: 'add' as const, path, value: { name: 'POLICY', value: 'x' } }];
    await bench.client.patch({ ...deployment, namespace, name: 'app' }, { kind: 'json', operations });
    await bench.deleteLumigo(namespace);
    const { spec } = await bench.templateOf(deployment, namespace, 'app');
    expect(spec.initContainers).toBeUndefined();
    expect(spec.volumes).toBeUndefined();
  });

  it('cannot change a Job, and an event says so', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('late');
    await bench.activate(namespace);
    await bench.whenWebhookInjects(namespace);
    await bench.create(workloadOf(job, namespace, 'export'));
    await bench.deleteLumigo(namespace);
    await eventually(async () =>
      expect((await bench.events(namespace, 'export')).map(({ reason }) => reason).sort()).toEqual([
        'LumigoAddedInstrumentation',
        'LumigoCannotRemoveInstrumentation',
      ]),
    );
  });
});

describe('changing a Lumigo', () => {
  const variable = async (namespace: string, name: string) => {
    const { spec } = await operator.bench.templateOf(deployment, namespace, 'app');
    return spec.containers[0]?.env?.find((each) => each.name === name);
  };

  it('applies another Secret and other flags to instrumented workloads [D14]', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('changes');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app'));
    await bench.secret(namespace, undefined, 'other');
    await bench.changeLumigo(namespace, {
      spec: { lumigoToken: { secretRef: { name: 'other' } }, logging: { enabled: true }, tracing: { enabled: false } },
    });
    await eventually(async () => {
      expect((await variable(namespace, 'LUMIGO_TRACER_TOKEN'))?.valueFrom).toMatchObject({
        secretKeyRef: { name: 'other' },
      });
      expect((await variable(namespace, 'LUMIGO_ENABLE_LOGS'))?.value).toBe('true');
      expect((await variable(namespace, 'LUMIGO_ENABLE_TRACES'))?.value).toBe('false');
    });
    await eventually(async () =>
      expect((await bench.events(namespace, 'app')).map(({ reason }) => reason)).toContain(
        'LumigoUpdatedInstrumentation',
      ),
    );
  });

  it('removes the injection when it is disabled, and injects again when it is enabled [D14]', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('switch');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app'));
    await bench.changeLumigo(namespace, { spec: injection({ enabled: false }) });
    await bench.whenInstrumented(deployment, namespace, 'app', false);
    await bench.changeLumigo(namespace, { spec: injection({ enabled: true }) });
    await bench.whenInstrumented(deployment, namespace, 'app');
  });
});

describe('the status', () => {
  it('is not rewritten by a rollout, and an idle Lumigo is not written at all [D21, D23]', async () => {
    const { bench } = operator;
    const namespace = await bench.namespace('quiet');
    await bench.activate(namespace);
    await bench.create(workloadOf(deployment, namespace, 'app'));
    await eventually(async () =>
      expect((await bench.readLumigo(namespace)).status?.instrumentedResourcesCount).toBe(1),
    );
    const before = await bench.readLumigo(namespace);
    const template = { spec: { containers: [{ name: 'app', image: 'app:2' }] } };
    await bench.merge(deployment, namespace, 'app', { spec: { template } });
    // Two status intervals are enough for any write.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect((await bench.readLumigo(namespace)).status).toEqual(before.status);
  });
});
