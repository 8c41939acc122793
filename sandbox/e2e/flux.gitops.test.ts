import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { operatorVersion } from '../../infra/settings/version.ts';
import { documented, type Documented } from '../flux/documented.ts';
import { Flux, fluxNamespace } from '../flux/flux.ts';
import { getWrites } from '../flux/writes.ts';
import { repository } from '../images/recipes.ts';
import { getLumigo, getSecret } from '../lumigo.ts';
import { deployment, restrictedNamespace, service } from '../node/apps.ts';
import { readAudit } from '../testing/audit.ts';
import { eventually, waitForRest } from '../testing/eventually.ts';
import { runMeanwhile } from '../run.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { getLeft, toolOn, type Tool } from './tools.ts';

const cluster = 'clusters/production';
let nodeTest: NodeTest;
let kubectl: Tool;
let flux: Flux;
let source: Documented;
let lumigoOperator: Documented;
let shop: Documented;

beforeAll(async () => {
  nodeTest = await NodeTest.bare({ audit: true });
  kubectl = await toolOn(nodeTest.system.node, 'kubectl');
  flux = await Flux.start(nodeTest.system.node, kubectl);
  [source, lumigoOperator, shop] = documented('install/gitops.md', 'Flux') as [Documented, Documented, Documented];
}, 900_000);
afterAll(async () => {
  await flux?.stop();
  await nodeTest?.stop();
});

async function commitOperator(settings: object, changed: (text: string) => string = (text) => text): Promise<void> {
  const endpoint = { otlp: { url: nodeTest.system.sink.url } };
  flux.repository.write(cluster, { 'lumigo-settings': { endpoint, ...settings } });
  const output = join(flux.repository.tree, cluster, 'lumigo');
  const environment = { ...process.env, LUMIGO_SETTINGS: join(flux.repository.tree, cluster, 'lumigo-settings.yaml') };
  await runMeanwhile('npm', ['run', 'synth', '--', '--output', output], { cwd: repository, env: environment });
  const file = join(output, 'lumigo-operator.k8s.yaml');
  writeFileSync(file, changed(readFileSync(file, 'utf8')));
  flux.repository.commit('Lumigo operator: synthesized');
}

const token = getToken(0xf1);
const front = deployment('shop', 'front');

function commitShop(files: Readonly<Record<string, object | undefined>>): void {
  flux.repository.write(`${cluster}/shop`, files);
  flux.repository.commit('the shop changes');
}

/** Flux retries by itself until all dependencies are ready. */
async function synced(...names: readonly string[]): Promise<void> {
  await eventually(
    async () => {
      for (const said of await flux.sync(...names)) expect(said).toMatchObject({ ready: 'True' });
    },
    { timeoutMs: 180_000 },
  );
}

async function settled(): Promise<void> {
  const counted = ['get', 'lumigo', '-n', 'shop', '-o', 'jsonpath={.items[*].status.instrumentedResourcesCount}'];
  await eventually(() => expect(kubectl(...counted)).toBe('1'), { timeoutMs: 120_000 });
  kubectl('rollout', 'status', 'deployment/front', '-n', 'shop', '--timeout=120s');
}

const seconds = async (what: string, action: () => Promise<unknown>): Promise<void> => {
  const started = Date.now();
  await action();
  process.stderr.write(`      ${what}: ${((Date.now() - started) / 1_000).toFixed(1)} s\n`);
};

function versions(): string {
  const kinds =
    'deployment,service,mutatingwebhookconfiguration,clusterrole,clusterrolebinding,role,rolebinding,serviceaccount,crd,priorityclass,poddisruptionbudget,lumigo,namespace,secret';
  const each = '{range .items[*]}{.kind}/{.metadata.name} {.metadata.uid} {.metadata.generation}{"\\n"}{end}';
  return kubectl('get', kinds, '-A', '-l', 'kustomize.toolkit.fluxcd.io/name', '-o', `jsonpath=${each}`);
}

const getUids = async (namespace: string, app: string) =>
  (await nodeTest.pods(namespace, app)).map(({ metadata }) => metadata.uid);

function writesSince(entries: number): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const write of getWrites(readAudit(nodeTest.system.node).slice(entries)))
    if (!write.includes(' leases ')) counts[write] = (counts[write] ?? 0) + 1;
  return counts;
}

/** Flux reports its own reconciliations. */
const otherWritesSince = (entries: number): readonly string[] =>
  Object.keys(writesSince(entries)).filter((write) => !/kustomizations|gitrepositories|events/.test(write));

const readActive = (field: 'status' | 'message'): string => {
  const path = `jsonpath={.items[*].status.conditions[?(@.type=="Active")].${field}}`;
  return kubectl('get', 'lumigo', '-n', 'shop', '-o', path);
};

const noted = () => readAudit(nodeTest.system.node).length;

const left = () => getLeft(kubectl, ['namespace']);

describe('Flux', () => {
  it('installs the synthesized and committed operator, then an application with its Lumigo', async () => {
    await commitOperator({});
    flux.apply({ ...source, spec: { ...source.spec, url: flux.url } }, lumigoOperator);
    await seconds('installed', () => synced('lumigo-operator'));
    commitShop({
      namespace: restrictedNamespace('shop'),
      secret: getSecret('shop', token),
      lumigo: getLumigo('shop'),
      front,
      service: service('shop', 'front'),
    });
    flux.apply(shop);
    await seconds('the application', () => synced('shop'));
    expect(readActive('status')).toBe('True');
    await nodeTest.waitForRunning('shop', 'front');
    await settled();
  });

  it('changes nothing by a second sync', async () => {
    const before = [versions(), noted()] as const;
    await synced('lumigo-operator', 'shop');
    expect(versions()).toBe(before[0]);
    expect(otherWritesSince(before[1])).toEqual([]);
  });

  it('applies a setting that a commit changes, and restarts no workload', async () => {
    const before = await getUids('shop', 'front');
    await commitOperator({ debug: { enabled: true } });
    await seconds('a setting', () => synced('lumigo-operator'));
    expect(await getUids('shop', 'front')).toEqual(before);
    const level = ['get', 'deployment', '-n', 'lumigo-system', '-o', 'yaml'];
    expect(kubectl(...level)).toMatch(/"logLevel": "debug"/);
  });

  it('keeps the documented annotation by which it does not delete the namespace', async () => {
    const annotate = ['annotate', 'namespace', 'lumigo-system', '--field-manager=flux-client-side-apply'];
    kubectl(...annotate, 'kustomize.toolkit.fluxcd.io/prune=disabled');
    await commitOperator({});
    await synced('lumigo-operator');
    expect(kubectl('get', 'namespace', 'lumigo-system', '-o', 'yaml')).toContain(
      'kustomize.toolkit.fluxcd.io/prune: disabled',
    );
    kubectl(...annotate, 'kustomize.toolkit.fluxcd.io/prune-');
  });

  it('upgrades the operator, and restarts no workload', async () => {
    const before = await getUids('shop', 'front');
    const version = (build = '') => `"version": "${operatorVersion()}${build}"`;
    const later = (text: string) => text.replaceAll(version(), version('+999'));
    await commitOperator({}, later);
    await seconds('upgraded', () => synced('lumigo-operator', 'shop'));
    expect(kubectl('get', 'deployment', '-n', 'lumigo-system', '-o', 'yaml')).toContain(version('+999'));
    expect(await getUids('shop', 'front')).toEqual(before);
    const isReported = () => expect(readActive('message')).toContain('another operator version');
    await eventually(isReported, { timeoutMs: 60_000 });
    // The new leader also reports what it has checked since.
    await waitForRest(() => nodeTest.readLumigo('shop'), 5_000);
    const entries = noted();
    await synced('lumigo-operator', 'shop');
    expect(otherWritesSince(entries)).toEqual([]);
  });

  it('writes nothing while nothing changes, like the operator', async () => {
    const quietSeconds = Number(process.env['LUMIGO_QUIET_SECONDS'] ?? 40);
    const often = ['--type=merge', '-p', '{"spec":{"interval":"20s"}}'];
    for (const { kind, metadata } of [source, lumigoOperator, shop])
      kubectl('patch', '-n', fluxNamespace, kind, metadata.name, ...often);
    await sleep(15_000);
    const entries = noted();
    await sleep(quietSeconds * 1_000);
    const writes = writesSince(entries);
    process.stderr.write(`      in ${quietSeconds} s: ${JSON.stringify(writes, null, 2)}\n`);
    // Flux reports each of its own reconciliations in its own namespace.
    const isOfFlux = (write: string) => /\/status /.test(write) || write.includes(`events ${fluxNamespace}/`);
    expect(Object.keys(writes).filter((write) => !isOfFlux(write))).toEqual([]);
    flux.apply(lumigoOperator, shop, { ...source, spec: { ...source.spec, url: flux.url } });
  }, 600_000);

  it('leaves the Lumigo of a namespace that a commit no longer monitors to its users [F54]', async () => {
    await nodeTest.apply(restrictedNamespace('bank'), deployment('bank', 'front'), getSecret('bank', token));
    await commitOperator({ monitoredNamespaces: [{ namespace: 'bank' }] });
    await synced('lumigo-operator');
    await nodeTest.waitForRunning('bank', 'front');
    await commitOperator({});
    await synced('lumigo-operator');
    kubectl('delete', 'lumigo', 'lumigo', '-n', 'bank', '--timeout=60s');
    await nodeTest.waitForRunning('bank', 'front', { instrumented: false });
    expect(kubectl('get', 'lumigo', '-n', 'bank', '-o', 'name')).toBe('');
  });

  it('removes the operator and every injection, and reports a Lumigo that is still in git', async () => {
    await seconds('removed', () =>
      kubectl.meanwhile('delete', 'kustomization', 'lumigo-operator', '-n', fluxNamespace, '--timeout=180s'),
    );
    expect(left()).toEqual([]);
    await nodeTest.waitForRunning('shop', 'front', { instrumented: false });
    flux.apply({ ...shop, spec: { ...shop.spec, dependsOn: [] } });
    const [said] = await flux.sync('shop');
    process.stderr.write(`      ${JSON.stringify(said)}\n`);
    expect(said?.ready).toBe('False');
    commitShop({ lumigo: undefined });
    await synced('shop');
    await nodeTest.waitForRunning('shop', 'front', { instrumented: false });
  });

  it('installs it again, and removes it together with the application', async () => {
    flux.apply(lumigoOperator);
    await synced('lumigo-operator');
    commitShop({ lumigo: getLumigo('shop') });
    flux.apply(shop);
    await synced('shop');
    await nodeTest.waitForRunning('shop', 'front');
    await seconds('both removed', () =>
      kubectl.meanwhile('delete', 'kustomization', '--all', '-n', fluxNamespace, '--timeout=180s'),
    );
    expect(left()).toEqual([]);
    expect(kubectl('get', 'namespace', '-o', 'name')).not.toContain('namespace/shop');
  });
});
