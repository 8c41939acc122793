import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { accountIn } from '../../sandbox/testing/account.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { toInjector } from '../config/config.ts';
import { workloadKinds } from '../contract.ts';
import { assumedConfig } from '../installation/assumed.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { assumedPolicy } from './preview.ts';
import { verdictOn } from './verdict.ts';

let cluster: ControlPlane;
let testCluster: TestCluster;
beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  testCluster = new TestCluster(cluster.client);
});
afterAll(() => cluster?.stop());

const { deployment } = workloadKinds;
const namespace = 'default';
const config = assumedConfig({}, {});

async function create(name: string) {
  await testCluster.create(createWorkload(deployment, namespace, name));
  return testCluster.get(deployment, namespace, name);
}

const judge = (client: Client, workload: Awaited<ReturnType<typeof create>>) =>
  verdictOn(deployment, workload, assumedPolicy, { client, injector: toInjector(config), renew: false, config });

describe('a verdict', () => {
  it('is made again on a workload that changed after it was read', async () => {
    const before = await create('changed');
    await testCluster.merge(deployment, namespace, 'changed', { metadata: { labels: { team: 'a' } } });
    expect(await judge(cluster.client, before)).toMatchObject({ decision: { kind: 'inject' }, refusal: undefined });
  });

  it('does not exist for a workload that was deleted after it was read', async () => {
    const before = await create('deleted');
    await cluster.client.delete({ ...deployment, namespace, name: 'deleted' });
    expect(await judge(cluster.client, before)).toBeUndefined();
  });

  it('says that an account without the right to change the workload has not tried it', async () => {
    const viewer = await accountIn(cluster, namespace, 'view');
    const verdict = await judge(viewer.client, await create('viewed'));
    viewer.close();
    expect(verdict).toMatchObject({ untried: true, refusal: undefined });
  });

  it('has the refusal of a policy that also answers 403', async () => {
    const before = await create('frozen');
    const admission = { group: 'admissionregistration.k8s.io', version: 'v1' };
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const rule = { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['deployments'] };
    const spec = {
      matchConstraints: { resourceRules: [{ ...rule, resourceNames: ['frozen'] }] },
      validations: [{ expression: 'false', message: 'it is frozen', reason: 'Forbidden' }],
    };
    const metadata = { name: 'freeze' };
    const policies = { ...admission, plural: 'validatingadmissionpolicies' };
    await cluster.client.create(policies, { apiVersion, kind: 'ValidatingAdmissionPolicy', metadata, spec });
    await cluster.client.create(
      { ...admission, plural: 'validatingadmissionpolicybindings' },
      {
        ...{ apiVersion, kind: 'ValidatingAdmissionPolicyBinding', metadata },
        spec: { policyName: 'freeze', validationActions: ['Deny'] },
      },
    );
    const verdict = await eventually(async () => {
      const found = await judge(cluster.client, before);
      expect(found?.refusal).toContain('it is frozen');
      return found;
    });
    expect(verdict).not.toHaveProperty('untried');
  });

  it('fails without an answer of the API server', async () => {
    const before = await create('unanswered');
    const transport = connectTo({ ...cluster, server: 'https://127.0.0.1:1' });
    await expect(judge(createClient(transport), before)).rejects.toThrow('ECONNREFUSED');
    transport.close();
  });
});
