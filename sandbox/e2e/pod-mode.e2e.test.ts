import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { suffixes } from '../../runtime/contract.ts';
import { isInstrumented } from '../lumigo.ts';
import { deployment, podTemplate, restrictedNamespace, service } from '../node/apps.ts';
import { eventually } from '../testing/eventually.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { toolOn, type Tool } from './tools.ts';

const podMode = { tracing: { injection: { mode: 'Pod' } } };
const manager = `lumigo-lumigo-operator${suffixes.manager}`;
const own = ['-n', 'lumigo-system'];

let nodeTest: NodeTest;
let kubectl: Tool;
beforeAll(async () => {
  nodeTest = await NodeTest.start({ injection: { podMode: true } });
  kubectl = await toolOn(nodeTest.system.node, 'kubectl');
});
afterAll(() => nodeTest?.stop());

const rolledOut = (namespace: string) => nodeTest.condition(namespace, 'RolledOut');

/** A new API server reads the kind of a parameter within 30 s. */
const waitForEffect = (namespace: string): Promise<void> =>
  eventually(
    async () => {
      const { metadata, spec } = podTemplate('probe');
      const probe = { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, namespace, name: 'probe' }, spec };
      expect(isInstrumented(await nodeTest.dryRun(probe))).toBe(true);
    },
    { timeoutMs: 60_000 },
  );

describe('in Pod mode', () => {
  it('running pods are counted until their user restarts them, as the status says', async () => {
    await nodeTest.apply(restrictedNamespace('running'), deployment('running', 'front', { replicas: 2 }));
    await nodeTest.waitForRunning('running', 'front', { instrumented: false, replicas: 2 });
    await nodeTest.activate('running', podMode, getToken(4));
    const command = await eventually(async () => {
      const { reason, message = '' } = (await rolledOut('running')) ?? {};
      expect(reason).toBe('PodsWithoutInjection');
      expect(message).toContain('2 pods run without the injection');
      return /'kubectl ([^']+)'/.exec(message)?.[1] ?? '';
    });
    await waitForEffect('running');
    kubectl(...command.split(' '));
    await nodeTest.waitForRunning('running', 'front', { replicas: 2 });
    await eventually(async () => expect(await rolledOut('running')).toMatchObject({ reason: 'Complete' }), {
      timeoutMs: 90_000,
    });
  });

  it('a pod that is created while no operator runs is traced once it has an endpoint', async () => {
    const { namespace } = await nodeTest.traced('alone', podMode);
    const replicas = kubectl('get', 'deployment', manager, ...own, '-o', 'jsonpath={.spec.replicas}');
    kubectl('scale', 'deployment', manager, ...own, '--replicas=0');
    const ofManager = [...own, '-l', 'app.kubernetes.io/component=controller-manager'];
    kubectl('wait', '--for=delete', 'pod', ...ofManager, '--timeout=120s');
    await nodeTest.apply(deployment(namespace, 'front'), service(namespace, 'front'));
    const [pod] = await nodeTest.waitForRunning(namespace, 'front');
    const url = await nodeTest.getAddress(namespace, 'front');
    kubectl('scale', 'deployment', manager, ...own, `--replicas=${replicas}`);
    const [span] = await nodeTest.countSpans(
      url,
      ({ resource }) => resource['k8s.pod.uid'] === pod?.metadata.uid,
      120_000,
    );
    expect(span?.resource).toMatchObject({ 'k8s.namespace.name': namespace, 'service.name': 'front' });
  });
});
