import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { pods as podKind, ports } from '../../runtime/contract.ts';
import { pythonImage } from '../node/apps.ts';
import { waitForOperator, type PodView } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { NodeTest } from './node-test.ts';
import { toolOn, type Tool } from './tools.ts';

/** The attacker controls the telemetry proxy's container, so the attempts run in the operator's own pods. */
let nodeTest: NodeTest;
let kubectl: Tool;
let pods: readonly PodView[];
beforeAll(async () => {
  // Signals end the manager several times, and the kubelet's own pause between restarts increases to five minutes.
  const kubelet = {
    featureGates: { KubeletCrashLoopBackOffMax: true },
    crashLoopBackOff: { maxContainerRestartPeriod: '1s' },
  };
  nodeTest = await NodeTest.start({}, { kubelet });
  kubectl = await toolOn(nodeTest.system.node, 'kubectl', '-n', 'lumigo-system');
  pods = await nodeTest.operatorPods();
});
afterAll(() => nodeTest?.stop());

const { signals } = constants;
const intruder = readFileSync(new URL('intruder.py', import.meta.url), 'utf8');

/** A replica that collects listens on all of them, any other on all but one. */
const usual: readonly number[] = Object.values(ports);

type Files = Readonly<Record<'environ' | 'root' | 'token' | 'cwd' | 'fd' | 'maps' | 'mem', string>>;
interface Found extends Readonly<Record<'manager' | 'proxy', Files>> {
  readonly user: number;
  readonly listening: readonly string[];
  readonly traced: Readonly<Record<'manager' | 'child', string>>;
}
interface Signalled {
  readonly signal: number;
  readonly outcome: 'runs' | 'ends';
  readonly opened: readonly string[];
}

async function intrude<T>(
  pod: PodView | undefined,
  name: string,
  args: readonly unknown[],
  timeoutMs: number,
): Promise<T> {
  const { namespace = '', name: podName = '' } = pod?.metadata ?? {};
  const container = {
    name,
    image: pythonImage,
    command: ['/usr/bin/python3', '-c', intruder, ...args.map(String)],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const ref = { ...podKind, namespace, name: podName };
  const { spec } = (await nodeTest.client.get(ref)) as PodView & { spec: { ephemeralContainers?: readonly object[] } };
  const body = { spec: { ephemeralContainers: [...(spec.ephemeralContainers ?? []), container] } };
  const subresource = 'ephemeralcontainers';
  await nodeTest.client.patch({ ...ref, subresource }, { kind: 'merge', body }, { fieldValidation: 'Strict' });
  return eventually(async () => JSON.parse(await kubectl.meanwhile('logs', podName, '-c', name)) as T, {
    timeoutMs,
    intervalMs: 1_000,
  });
}

const getSubject = (token: string): unknown =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub?: unknown }).sub;

describe("the operator's pod", () => {
  it("opens nothing of the manager's process to another container of the same user [F26]", async () => {
    const { user, manager, proxy, traced, listening } = await intrude<Found>(pods[0], 'doors', ['doors'], 180_000);
    expect(user).toBe(65_532);
    // The attempts succeed on unprotected processes, such as the proxy's own files and a child.
    expect(Number(proxy.environ)).toBeGreaterThan(0);
    expect(getSubject(proxy.token)).toBe('system:serviceaccount:lumigo-system:lumigo-lumigo-operator-telemetry-proxy');
    expect(traced).toEqual({ manager: 'EPERM', child: 'traced' });
    expect(new Set(Object.values(manager))).toEqual(new Set(['EACCES']));
    expect(listening).toContain(String(ports.health));
    expect(listening.filter((socket) => !usual.includes(Number(socket)))).toEqual([]);
  });

  it("enriches and collects with its own account, and reacts to the manager's signals [F26]", async () => {
    const { namespace } = await nodeTest.traced('shop');
    const url = await nodeTest.serve(namespace, 'front');
    await nodeTest.countSpans(url, ({ resource }) => resource['k8s.deployment.name'] === 'front');
    await eventually(
      async () => {
        const objects = await nodeTest.system.sink.objects();
        expect(objects.map((object) => object.namespace)).toContain(namespace);
      },
      { timeoutMs: 30_000 },
    );
  });

  it('opens no socket of the manager on any signal: each that it handles ends it or changes nothing [F62]', async () => {
    const all = await intrude<Signalled[]>(pods[0], 'signals', ['signals', ports.health, usual], 200_000);
    expect(all.filter(({ opened }) => opened.length > 0)).toEqual([]);
    const endedBy = all.filter(({ outcome }) => outcome === 'ends').map(({ signal }) => signal);
    expect(endedBy).toEqual(expect.arrayContaining([signals.SIGKILL, signals.SIGTERM]));
    expect(all).toContainEqual({ signal: signals.SIGUSR1, outcome: 'runs', opened: [] });
    await waitForOperator(nodeTest.system.node);
  }, 250_000);
});
