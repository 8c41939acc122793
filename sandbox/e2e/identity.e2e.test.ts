import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { managerSelector, mounts } from '../../runtime/contract.ts';
import { deployment, nodeImage, service } from '../node/apps.ts';
import { podsOf, type PodView } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { NodeBench } from './bench.ts';
import { toolOn, type Tool } from './tools.ts';

/** What somebody could do who broke into the telemetry proxy's container, tried in the operator's own pod. */
let bench: NodeBench;
let kubectl: Tool;
let operator: PodView;
beforeAll(async () => {
  bench = await NodeBench.start();
  kubectl = await toolOn(bench.system.node, 'kubectl', '-n', 'lumigo-system');
  const [pod] = await podsOf(bench.system.node, 'lumigo-system', managerSelector);
  if (pod === undefined) throw new Error('the operator has no pod');
  operator = pod;
});
afterAll(() => bench?.stop());

/** Tries every door of both processes, as the user that both run as, and says of each what came of it. */
const intruder = `
const fs = require('node:fs');
const words = (pid) => { try { return fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8'); } catch { return ''; } };
const pidOf = (word) => fs.readdirSync('/proc').find((pid) => Number(pid) > 0 && pid != process.pid && words(pid).includes(word));
const door = (open) => { try { return open().toString(); } catch (error) { return error.code; } };
const doors = (pid) => ({
  environ: door(() => fs.readFileSync('/proc/' + pid + '/environ').length),
  root: door(() => fs.readdirSync('/proc/' + pid + '/root')),
  token: door(() => fs.readFileSync('/proc/' + pid + '/root${mounts.serviceAccount}/token')),
  cwd: door(() => fs.readdirSync('/proc/' + pid + '/cwd/')),
  fd: door(() => fs.readdirSync('/proc/' + pid + '/fd')),
  maps: door(() => fs.readFileSync('/proc/' + pid + '/maps').length),
  mem: door(() => fs.openSync('/proc/' + pid + '/mem', 'r+')),
});
console.log(JSON.stringify({ user: process.getuid(), manager: doors(pidOf('/app/main.js')), proxy: doors(pidOf('--config=')) }));
setInterval(() => undefined, 1000);
`;

type Doors = Readonly<Record<'environ' | 'root' | 'token' | 'cwd' | 'fd' | 'maps' | 'mem', string>>;

/** Puts the intruder into the operator's pod, as a container of its own. */
async function intrude(): Promise<{ user: number; manager: Doors; proxy: Doors }> {
  const { name, namespace } = operator.metadata;
  const container = {
    name: 'intruder',
    image: nodeImage,
    command: ['/nodejs/bin/node', '-e', intruder],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const ref = { group: '', version: 'v1', plural: 'pods', namespace, name, subresource: 'ephemeralcontainers' };
  const merged = { ephemeralContainers: [container] };
  await bench.client.patch(ref, { kind: 'merge', body: { spec: merged } }, { fieldValidation: 'Strict' });
  return eventually(
    () => Promise.resolve(JSON.parse(kubectl('logs', name, '-c', 'intruder')) as Awaited<ReturnType<typeof intrude>>),
    { timeoutMs: 30_000 },
  );
}

const subjectOf = (token: string): unknown =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub?: unknown }).sub;

describe("the operator's pod", () => {
  it("F26: opens no door of the manager's process to another container of the same user", async () => {
    const { user, manager, proxy } = await intrude();
    expect(user).toBe(65_532);
    // What is not closed is seen: the telemetry proxy's own doors are open to its user.
    expect(Number(proxy.environ)).toBeGreaterThan(0);
    expect(subjectOf(proxy.token)).toBe('system:serviceaccount:lumigo-system:lumigo-lumigo-operator-telemetry-proxy');
    expect(new Set(Object.values(manager))).toEqual(new Set(['EACCES']));
  });

  it('F26: still enriches and collects, as an account of its own, and takes up what the manager signals', async () => {
    const { namespace } = await bench.namespace('shop');
    await bench.apply(deployment(namespace, 'front'), service(namespace, 'front'));
    await bench.whenRunning(namespace, 'front');
    const url = await bench.addressOf(namespace, 'front');
    await bench.spansOf(url, ({ resource }) => resource['k8s.deployment.name'] === 'front');
    await eventually(
      async () => {
        const objects = await bench.system.sink.objects();
        expect(objects.map((object) => object.namespace)).toContain(namespace);
      },
      { timeoutMs: 30_000 },
    );
  });
});
