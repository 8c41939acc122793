import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startOperator, type OperatorBench } from '../../sandbox/testing/operator.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { runInContainer } from '../../sandbox/manager/command.ts';
import { workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { toTemplate } from '../injection/workload.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

const definitions = kinds.customResourceDefinitions;
const group = 'security.openshift.io';
const constraints = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${group}` },
  spec: {
    group,
    scope: 'Cluster',
    names: { plural: 'things', singular: 'thing', kind: 'Thing' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};
const { deployment } = workloadKinds;

let operator: OperatorBench;
beforeAll(async () => {
  operator = await startOperator();
});
afterAll(() => operator?.stop());

async function getUser(name: string): Promise<unknown> {
  const { testCluster } = operator;
  const namespace = await testCluster.instrumented(name);
  const { spec } = await testCluster.toTemplate(deployment, namespace, 'app');
  return spec.initContainers?.at(-1)?.securityContext?.runAsUser;
}

describe('the platform', () => {
  it('OpenShift is recognized by its API group, without a setting [F24]', async () => {
    expect(await getUser('kubernetes')).toBe(1234);
    await operator.stopManager();
    await operator.cluster.client.create(definitions, constraints);
    await eventually(() =>
      operator.cluster.client
        .get({ group, version: 'v1', plural: 'things', name: 'none' })
        .catch((error: Error) => expect(error.message).toContain('"none" not found')),
    );
    await operator.startManager();
    expect(await getUser('openshift')).toBeUndefined();
  });

  it('`lumigo explain` says that an LD_PRELOAD may be hidden [F24]', async () => {
    const { testCluster, cluster, installation } = operator;
    const namespace = await testCluster.namespace('preload');
    const workload = createWorkload(deployment, namespace, 'app');
    const [container = {}] = toTemplate(workload as unknown as Workload)?.spec.containers ?? [];
    Object.assign(container, { envFrom: [{ configMapRef: { name: 'shared', optional: true } }] });
    await testCluster.create(workload);
    const { stdout } = await runInContainer(cluster, installation, ['explain', 'deployment/app', '-n', namespace]);
    expect(stdout).toContain("an LD_PRELOAD from ConfigMap 'shared'");
  });
});
