import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { everyKind, createWorkload } from '../../sandbox/testing/workloads.ts';
import { labels, workloadKinds } from '../contract.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import { getCollection } from '../../sandbox/manager/apply.ts';

let operator: OperatorBench;
let shop: string;
beforeAll(async () => {
  operator = await startOperator({ controllerManager: false });
  shop = await operator.testCluster.namespace('shop');
  await operator.testCluster.activate(shop);
  await operator.testCluster.waitForWebhook(shop);
});
afterAll(() => operator?.stop());

const { deployment } = workloadKinds;
const own = { [labels.autoTrace]: 'yes' };

/** Kustomize's commonLabels add a label to the object, its pods and, if the user sets it, its selector. */
function commonLabels(manifest: Manifest): Manifest {
  const made = manifest as unknown as { kind: string; metadata: { name: string }; spec: object };
  if (made.kind === 'CronJob') return manifest;
  const selector = { matchLabels: { app: made.metadata.name, ...own } };
  const more = made.kind === 'Job' ? { manualSelector: true } : {};
  return { ...made, spec: { ...made.spec, selector, ...more } } as unknown as Manifest;
}

const getWarnings = async (manifest: Manifest) =>
  (await operator.testCluster.client.create(getCollection(manifest), manifest)).warnings.join('\n');

describe('no write of a user is refused because of the injection [F22]', () => {
  it.each(everyKind)('if a %s selects its pods by our label', async (name, kind) => {
    const { testCluster } = operator;
    const manifest = createWorkload(kind, shop, `selects-${kind.plural}`, { labels: own, podLabels: own });
    const warnings = await getWarnings(commonLabels(manifest));
    const hasSelector = name !== 'CronJob';
    expect(await testCluster.isInstrumented(kind, shop, manifest.metadata.name ?? '')).toBe(!hasSelector);
    if (hasSelector) expect(warnings).toContain('remove the label from the selector');
  });

  it.each(everyKind)('if the annotations of a %s are nearly full', async (_name, kind) => {
    const { testCluster } = operator;
    const made = createWorkload(kind, shop, `full-${kind.plural}`);
    const annotations = { note: 'x'.repeat(256 * 1024 - 10) };
    const warnings = await getWarnings({ ...made, metadata: { ...made.metadata, annotations } });
    expect(warnings).toContain('annotations would exceed');
    expect(await testCluster.isInstrumented(kind, shop, made.metadata.name ?? '')).toBe(false);
  });

  it('if the object is too large for a decision, which an event reports [F20]', async () => {
    const { testCluster } = operator;
    const env = Array.from({ length: 6_000 }, (_, index) => ({ name: `e${index}` }));
    expect(await getWarnings(createWorkload(deployment, shop, 'large', { env }))).toContain('size limit');
    expect(await testCluster.isInstrumented(deployment, shop, 'large')).toBe(false);
    await eventually(async () => {
      const events = await testCluster.events(shop, 'large');
      expect(events.map(({ reason }) => reason)).toEqual(['LumigoCannotAddInstrumentation']);
      expect(events[0]?.message).toContain('size limit');
      const { status } = await testCluster.readLumigo(shop);
      const active = status?.conditions?.find(({ type }) => type === 'Active');
      expect(active?.message).toContain('. 1 workload exceeds the size limit');
    });
  });

  it('if a record is forged, which does not prevent the removal of the injection [F29]', async () => {
    const { testCluster } = operator;
    await testCluster.create(createWorkload(deployment, shop, 'forged'));
    const { metadata } = await testCluster.toTemplate(deployment, shop, 'forged');
    const name = 'operator.lumigo.io/injection';
    const record = JSON.parse(metadata?.annotations?.[name] ?? '{}') as object;
    for (const mount of [{ mountPath: '/opt/lumigo' }, { name: 'gone', mountPath: '/opt/lumigo' }]) {
      const text = JSON.stringify({ ...record, label: '- -', kept: { app: { mount } } });
      const template = { metadata: { annotations: { [name]: text } } };
      await operator.withoutWebhook(() => testCluster.merge(deployment, shop, 'forged', { spec: { template } }));
    }
    await testCluster.deleteLumigo(shop);
    expect(await testCluster.isInstrumented(deployment, shop, 'forged')).toBe(false);
    const { spec } = await testCluster.toTemplate(deployment, shop, 'forged');
    expect(JSON.stringify(spec)).not.toMatch(/lumigo|gone/);
  });
});
