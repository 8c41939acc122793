import { setTimeout as sleep } from 'node:timers/promises';
import { isInstrumented } from '../lumigo.ts';
import { ask } from '../node/ask.ts';
import { deployment, nodeImage, podTemplate, restrictedNamespace, service } from '../node/apps.ts';
import { getPods } from '../node/operator.ts';
import type { NodeTest } from './node-test.ts';

/** The programs' lines before they serve. `ready` is the readiness, and `injected` is true with the injection. */
const behaviors = {
  serve: '',
  never: 'ready = () => false;',
  /** Its readiness takes 12 s, which is longer than the soak of these tests. */
  warm: 'const at = Date.now() + 12_000; ready = () => Date.now() > at;',
  crash: "if (injected) { console.error('these are my last words'); process.exit(3); }",
  slow: 'ready = () => !injected;',
} as const;
export type Behavior = keyof typeof behaviors;

/**
 * `/exit` ends the program once. After `/break` it exits at each start while injected: the mark is in the pod's shared
 * memory. It serves after SIGTERM until requests stop for 5 s, because a busy node sends them for longer.
 */
const strictApp = (how: Behavior): string => `
  const fs = require('node:fs');
  const injected = process.env.LD_PRELOAD !== undefined;
  let ready = () => true;
  let asked = 0;
  if (injected && fs.existsSync('/dev/shm/broken')) process.exit(3);
  ${behaviors[how]}
  require('node:http').createServer((request, response) => {
    if (request.url !== '/healthz') asked = Date.now();
    if (request.url === '/break') fs.writeFileSync('/dev/shm/broken', '');
    if (request.url === '/exit' || request.url === '/break') process.exit(1);
    response.statusCode = request.url === '/healthz' && !ready() ? 503 : 200;
    response.end('served');
  }).listen(8080);
  process.on('SIGTERM', () => {
    asked = Date.now();
    setInterval(() => Date.now() - asked > 5000 && process.exit(0), 100);
  });`;

/** On a busy node, all programs without a CPU request together have a hundredth of the time of the operator's pods. */
export const servesAlways = { requests: { cpu: '10m' } };

export function strictDeployment(namespace: string, name: string, how: Behavior) {
  const pod = { terminationGracePeriodSeconds: 60 };
  const template = podTemplate(name, { image: nodeImage, resources: servesAlways, pod });
  const containers = template.spec.containers.map((container) => ({
    ...container,
    command: ['/nodejs/bin/node', '-e', strictApp(how)],
    terminationMessagePolicy: 'FallbackToLogsOnError',
  }));
  const made = deployment(namespace, name, { replicas: 2 });
  const spec = made['spec'] as object;
  return { ...made, spec: { ...spec, template: { ...template, spec: { ...template.spec, containers } } } };
}

/** Sends requests, about ten a second by default. Resolves with the failures, and the pods that were ever injected. */
export function follow(nodeTest: NodeTest, namespace: string, urls: string[], { pauseMs = 80, clients = 1 } = {}) {
  const failures: string[] = [];
  const injected = new Set<string>();
  let asked = 0;
  let stopped = false;
  const keepAsking = async (url: string): Promise<void> => {
    for (; !stopped; await sleep(pauseMs)) {
      asked += 1;
      const began = Date.now();
      try {
        const answer = await ask(url, 10_000);
        await answer.text();
        if (!answer.ok) failures.push(`${url}: ${answer.status}`);
      } catch (error) {
        const { cause = error } = error as Error;
        failures.push(`${url}: ${String(cause)}, after ${Date.now() - began} ms, at ${new Date(began).toISOString()}`);
      }
    }
  };
  const poll = async (): Promise<void> => {
    // A busy API server may miss one of the readings.
    for (; !stopped; await sleep(500))
      for (const pod of await getPods(nodeTest.system.node, namespace).catch(() => []))
        if (isInstrumented(pod)) injected.add(pod.metadata.labels?.['app'] ?? '');
  };
  const asking = Array.from({ length: clients }, () => urls.map(keepAsking)).flat();
  const all = Promise.all([poll(), ...asking]);
  const stop = async () => {
    stopped = true;
    await all;
    return { asked, failures, injected: [...injected] };
  };
  toStop.push(stop);
  return { stop, asked: () => asked };
}

const toStop: (() => Promise<unknown>)[] = [];
export async function stopFollowing(): Promise<void> {
  for (const stop of toStop.splice(0)) await stop().catch(() => undefined);
}

export async function prepareStrictApps(
  nodeTest: NodeTest,
  namespace: string,
  apps: Readonly<Record<string, Behavior>>,
): Promise<string[]> {
  await nodeTest.apply(restrictedNamespace(namespace));
  for (const [name, how] of Object.entries(apps))
    await nodeTest.apply(strictDeployment(namespace, name, how), service(namespace, name));
  for (const name of Object.keys(apps))
    await nodeTest.waitForRunning(namespace, name, { instrumented: false, replicas: 2, timeoutMs: 120_000 });
  return Promise.all(Object.keys(apps).map((name) => nodeTest.getAddress(namespace, name)));
}
