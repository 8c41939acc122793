import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CoreV1Event, V1JobStatus } from '@kubernetes/client-node';
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFiles } from '../../infra/helm/write-files.ts';
import { operatorVersion } from '../../infra/settings/version.ts';
import { workloadKinds } from '../../runtime/contract.ts';
import { ChartRepository } from '../chart-repository/repository.ts';
import { hasCondition } from '../lumigo.ts';
import { restrictedNamespace } from '../node/apps.ts';
import type { NodeCluster } from '../node/node.ts';
import { getPods, waitForOperator } from '../node/operator.ts';
import { ensureBinaries } from '../programs/build.ts';
import { readAudit } from '../testing/audit.ts';
import { eventually } from '../testing/eventually.ts';
import { NodeTest } from './node-test.ts';
import { setting, toolOn, type Tool } from './tools.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';

let node: NodeCluster;
let nodeTest: NodeTest;
let release: Tool;
let kubectl: Tool;
let charts: ChartRepository;
const folder = createTemporaryFolder();
let helm: string;
const [major = 0, minor = 0] = operatorVersion().split('.').map(Number);
/** A Job queries the repository of the node's network in place of this one. */
const published = 'https://charts.example';
/** Helm waits this long for an upgrade, which replaces two replicas one after the other. */
const TIMEOUT_SECONDS = 120;
const toTimeout = (seconds: number): string => String.raw`\"timeoutSeconds\": ${seconds}`;
const next = (patch: number): string => `${major}.${minor}.${patch}`;

beforeAll(async () => {
  helm = (await ensureBinaries(['helm']))['helm'] ?? '';
  nodeTest = await NodeTest.bare({ audit: true });
  node = nodeTest.system.node;
  release = await toolOn(node, 'helm', '--namespace', 'lumigo-system');
  kubectl = await toolOn(node, 'kubectl', '--namespace', 'lumigo-system');
  charts = new ChartRepository(node, helm);
  writeFiles(folder, charts.files);
  charts.publish(operatorVersion());
  await charts.start();
  await nodeTest.apply(restrictedNamespace('lumigo-system'));
  const values = {
    'updater.repository': published,
    'updater.timeoutSeconds': String(TIMEOUT_SECONDS),
    'updater.verify.unsigned': 'accept',
    'cluster.name': 'kept',
  };
  release('install', 'lumigo', folder, ...setting(values), '--wait', '--timeout', '120s');
});
afterAll(() => nodeTest?.stop());

const { job } = workloadKinds;
const namespace = 'lumigo-system';
let runs = 0;

interface Run {
  readonly succeeded: boolean;
  readonly log: string;
  readonly event: string;
}

/** The settings allow only https://, and the repository has no certificate, so each Job gets its address. */
function createJob(name: string, seconds: number): void {
  const made = kubectl(
    ...['create', 'job', name, '--from=cronjob/lumigo-lumigo-operator-updater', '--dry-run=client', '-o', 'json'],
  );
  expect(made).toContain(published);
  expect(made).toContain(toTimeout(TIMEOUT_SECONDS));
  const file = join(folder, '..', `${name}-${process.pid}.json`);
  writeFileSync(file, made.replaceAll(published, charts.url).replace(toTimeout(TIMEOUT_SECONDS), toTimeout(seconds)));
  kubectl('create', '-f', file);
  rmSync(file);
}

async function runUpdater(seconds = TIMEOUT_SECONDS): Promise<Run> {
  const name = `update-${(runs += 1)}`;
  createJob(name, seconds);
  const succeeded = await eventually(
    async () => {
      const { status } = (await nodeTest.client.get({ ...job, namespace, name })) as { status?: V1JobStatus };
      const isComplete = hasCondition('Complete', status);
      if (!isComplete && !hasCondition('Failed', status)) throw new Error(`not done: ${JSON.stringify(status)}`);
      return isComplete;
    },
    { timeoutMs: 200_000, intervalMs: 500 },
  );
  const [pod] = await getPods(node, namespace, `job-name=${name}`);
  const events: readonly Partial<CoreV1Event>[] = await nodeTest.events(namespace);
  const own = events.find(({ reportingInstance }) => reportingInstance === pod?.metadata.name);
  expect(own?.involvedObject?.kind).toBe('Deployment');
  return { succeeded, log: kubectl('logs', `job/${name}`), event: `${own?.reason}: ${own?.message}` };
}

const installed = (): string => release('list', '-o', 'json');
const podAnnotations = (): string =>
  kubectl('get', 'deployment', '-o', 'jsonpath={.items[0].spec.template.metadata.annotations}');

const moreRights = '  - { apiGroups: [""], resources: [nodes], verbs: [get] }\n';

describe('the updater', () => {
  it('upgrades to the newest version within the range, and keeps the configured values', async () => {
    charts.publish('0.0.1');
    charts.publish(`${major + 1}.0.0`);
    charts.publish(next(1), {
      'values.yaml': (text) => text.replace('podAnnotations: {}', 'podAnnotations: { since: "1" }'),
      'templates/clusterrole.controller-manager-role.yaml': (text) => text.replace('rules:\n', `rules:\n${moreRights}`),
    });
    const { succeeded, log, event } = await runUpdater();
    expect({ succeeded, log }).toEqual({ succeeded: true, log: expect.stringContaining('operator updated') });
    expect(event).toBe(`LumigoOperatorUpdated: ${operatorVersion()} was upgraded to ${next(1)}`);
    expect(installed()).toContain(`lumigo-operator-${next(1)}`);
    expect(podAnnotations()).toContain('"since":"1"');
    expect(kubectl('get', 'clusterrole', 'lumigo-lumigo-operator-controller-manager-role', '-o', 'yaml')).toContain(
      '- nodes',
    );
    expect(release('get', 'values', 'lumigo')).toContain('name: kept');
    await waitForOperator(node);
  });

  it('rolls back a version that does not become ready, and does not install it again', async () => {
    charts.publish(next(2), {
      'values.yaml': (text) =>
        text
          .replace(`tag: ${operatorVersion()}`, 'tag: there-is-none')
          .replace('podAnnotations: {}', 'podAnnotations: { since: "2" }'),
    });
    const { succeeded, event } = await runUpdater(20);
    expect(succeeded).toBe(false);
    expect(event).toContain(`LumigoCannotUpdateOperator: ${next(2)} could not be installed: helm upgrade failed: `);
    expect(event).toContain('has been rolled back due to atomic being set');
    expect(installed()).toContain(`lumigo-operator-${next(1)}`);
    expect(podAnnotations()).toContain('"since":"1"');
    await waitForOperator(node);
    const again = await runUpdater();
    expect(again.succeeded).toBe(true);
    expect(again.event).toContain(
      `${next(2)} was installed before (revision 3, failed), so the updater does not install it again`,
    );
  });

  it('refuses while another operation is pending', async () => {
    const args = [
      'upgrade',
      'lumigo',
      folder,
      '--reuse-values',
      '--set',
      'controllerManager.manager.image.tag=there-is-none',
    ];
    const other = spawn(helm, [...args, '--wait', '--namespace', 'lumigo-system', '--kubeconfig', node.kubeconfig]);
    await eventually(
      () => {
        if (!release('list', '--pending', '-o', 'json').includes('lumigo')) throw new Error('nothing is pending yet');
        return Promise.resolve();
      },
      { timeoutMs: 20_000, intervalMs: 200 },
    );
    other.kill('SIGKILL');
    const { succeeded, event } = await runUpdater();
    expect(succeeded).toBe(false);
    expect(event).toMatch(/another operation on release 'lumigo' is under way \(revision \d+ is pending-upgrade\)/);
    expect(event).toMatch(/helm rollback lumigo \d+ --namespace lumigo-system$/);
    // The test runs the command that the event advises.
    release(...(/rollback lumigo \d+/.exec(event)?.[0].split(' ') ?? []), '--wait', '--timeout', '60s');
    expect((await runUpdater()).succeeded).toBe(true);
  });

  it('has the rights that it needs, and requested nothing beyond them', () => {
    const user = 'system:serviceaccount:lumigo-system:lumigo-lumigo-operator-updater';
    const own = readAudit(node).filter((entry) => entry.user.username === user);
    expect(own.length).toBeGreaterThan(100);
    expect(
      own.filter(({ responseStatus }) => responseStatus?.code === 403).map(({ requestURI }) => requestURI),
    ).toEqual([]);
  });
});
