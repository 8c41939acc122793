import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readAudit } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getKstatus } from '../../sandbox/testing/kstatus.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { lumigo as contract } from '../contract.ts';

const audit = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: RequestResponse
    resources: [{ group: ${contract.group}, resources: ['${contract.plural}', '${contract.plural}/status'] }]
    verbs: [create, update, patch, delete]
  - level: None
`;

let telemetry: TelemetryBench;
beforeAll(async () => {
  telemetry = await startTelemetry({ audit, controllerManager: false });
});
afterAll(() => telemetry?.stop());

/** Returns each stored version of a `Lumigo`, from the API server's own record of its answers. */
const recorded = (namespace: string): LumigoResource[] =>
  readAudit(telemetry.cluster)
    .filter(({ responseStatus, requestURI }) => (responseStatus?.code ?? 0) < 300 && !requestURI.includes('dryRun=All'))
    .map(({ responseObject }) => responseObject as LumigoResource)
    .filter(({ kind, metadata }) => kind === contract.kind && metadata.namespace === namespace);

const withoutRepeats = <T>(all: readonly T[]): T[] => all.filter((each, index) => each !== all[index - 1]);
const judged = (namespace: string) => withoutRepeats(recorded(namespace).map(getKstatus));
const saidBy = (namespace: string, wanted: string) =>
  withoutRepeats(
    recorded(namespace).map(({ status }) => status?.conditions?.find(({ type }) => type === wanted)?.status ?? 'none'),
  );

/** The API server records an answer a moment after others can read its effect. */
const waitForJudged = (namespace: string, expected: readonly string[]) =>
  eventually(() => expect(judged(namespace)).toEqual(expected));
const works = { status: 'True', reason: 'Ready' } as const;

it('kstatus waits for a new Lumigo until token and webhook are checked, and no condition flaps', async () => {
  const { testCluster, stopManager, startManager } = telemetry;
  const namespace = await testCluster.namespace('new');
  await testCluster.activate(namespace, {}, getToken(1));
  await testCluster.waitForCondition(namespace, 'Ready', works);
  await waitForJudged(namespace, ['InProgress', 'Current']);
  const once = ['TokenAccepted', 'WebhookReachable', 'Active'];
  expect(once.map((type) => saidBy(namespace, type))).toEqual(once.map(() => ['none', 'True']));
  await stopManager();
  await startManager();
  await testCluster.changeLumigo(namespace, { spec: { logging: { enabled: true } } });
  await testCluster.waitForCondition(namespace, 'Ready', { ...works, observedGeneration: 2 });
  await waitForJudged(namespace, ['InProgress', 'Current', 'InProgress', 'Current']);
  expect(once.map((type) => saidBy(namespace, type))).toEqual(once.map(() => ['none', 'True']));
  expect(saidBy(namespace, 'Ready')).toEqual(['none', 'Unknown', 'True']);
});
