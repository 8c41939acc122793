import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { suffixes } from '../../runtime/contract.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { addOperator, type Manager } from '../manager/manager.ts';
import { runScript } from '../run.ts';
import { SAMPLE_NAMESPACE } from './sample-objects.ts';

/** The cluster is an API server without a node, so it is neither kind nor minikube. */
let cluster: ControlPlane;
let manager: Manager | undefined;
beforeAll(async () => {
  await ensureBundle();
  cluster = await startControlPlane({ controllerManager: false });
});
afterAll(async () => {
  await manager?.stop();
  await cluster?.stop();
});

const run = (script: 'install' | 'sample', ...args: readonly string[]) =>
  runScript(`sandbox/own-cluster/${script}.ts`, args, { ...process.env, KUBECONFIG: cluster.kubeconfig });

const image = ['--image', 'registry.example/acme/lumigo-kubernetes-operator:0.1.0'];

const getDeployments = async () => {
  const { value } = await cluster.client.pages({ ...kinds.deployments, namespace: 'lumigo-system' }).next();
  return (value?.items ?? []).map((item) => JSON.stringify(item));
};

it('npm run cluster:sample says what to do if there is no operator', async () => {
  const { code, stderr } = await run('sample', '--yes');
  expect(code).toBe(1);
  expect(stderr).toMatch(/has no Lumigo operator\. Install it first: npm run cluster:install/);
});

describe('npm run cluster:install', () => {
  it.each([
    ['an image', [], /is neither a kind nor a minikube cluster[^]*npm run cluster:install -- --image REGISTRY/],
    ['such a context', ['--context', 'nowhere'], /no cluster to install into: .*nowhere[^]*`kind create cluster`/],
    ['an agreement', image, /there is no terminal to ask at\. Pass --yes to agree beforehand/],
  ])('changes nothing without %s, and says what to do', async (_what, args, sentence) => {
    const { code, stderr } = await run('install', ...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(sentence);
    expect(await getDeployments()).toEqual([]);
  });

  it('installs the chart with the named image, and again without an error', async () => {
    for (let round = 0; round < 2; round += 1) {
      const { code, stdout, stderr } = await run('install', ...image, '--yes', '--no-wait');
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(/installing the chart with Helm[^]*Next: npm run cluster:sample/);
    }
    expect((await getDeployments()).join()).toContain('"registry.example/acme/lumigo-kubernetes-operator:0.1.0"');
    // The webhook of the next test has an address. One that also has the chart's Service is invalid.
    await cluster.client.delete({ ...kinds.webhooks, name: `lumigo-lumigo-operator${suffixes.injectorWebhook}` });
  });
});

describe('npm run cluster:sample', () => {
  it('shows an instrumented program and the Lumigo resource, and removes both', async () => {
    manager = await addOperator(cluster, { collector: false });
    const { code, stdout, stderr } = await run('sample', '--yes', '--no-wait');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      /LUMIGO_TRACER_TOKEN is not set[^]*Deployment\/hello +instrumented[^]*lumigo +(True|Unknown)/,
    );

    expect(await run('sample', '--yes', '--remove')).toMatchObject({ code: 0, stderr: '' });
    const { client } = cluster;
    const found = await client.find({ ...kinds.namespaces, name: SAMPLE_NAMESPACE });
    expect(found === undefined || found.metadata.deletionTimestamp !== undefined).toBe(true);
  });
});
