import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { paths } from '../../runtime/contract.ts';

/** Sends the webhook everything that a pod without rights can send, until killed. A separate process, so the measurement excludes its work. */
const port = Number(process.env['ATTACK_PORT']);
const host = process.env['ATTACK_HOST'] ?? '127.0.0.1';
const target = { host, port, rejectUnauthorized: false } as const;

/** The pause between two attempts. A handshake costs the attacker as much as the webhook, and both share the machine. */
const PAUSE_MS = 500;

const MB = 1024 * 1024;
const review = (object: string) =>
  `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u","kind":{"group":"apps","version":"v1",` +
  `"kind":"Deployment"},"namespace":"default","operation":"CREATE","object":${object}}}`;
const maps = (bytes: number) => `[${'{},'.repeat(bytes / 3)}{}]`;
const names = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"lumigo.auto-trace":"false"}},"spec":{"template":{"metadata":{"labels":{"lumigo.auto-trace":"lumigo-operator.v1"}},"spec":{"containers":[{"name":"app","env":[${Array.from({ length: 25_000 }, (_, i) => `{"name":"e${i}"}`).join(',')}]}]}}}}`;

const post = (body: string | Buffer) =>
  new Promise<void>((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request({ ...target, agent: false, path: paths.inject, method: 'POST', headers }, (response) => {
      response.resume().on('close', resolve);
    });
    sent.on('error', () => resolve()).end(body);
  });

const hold = (open: (to: typeof target) => Socket, head?: string) =>
  new Promise<void>((resolve) => {
    const socket = open(target);
    if (head !== undefined) socket.write(head);
    const drip = setInterval(() => head !== undefined && socket.writable && socket.write(' '), 1_000);
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(drip);
        resolve();
      });
    socket.resume();
  });

const slowly = (head: string) => () => hold(connectTls, head);
const promised = `POST ${paths.inject} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${MB}\r\n\r\n`;
const almost = promised + ' '.repeat(MB - 100_000);

const attackers: readonly (readonly [count: number, attack: () => Promise<void>])[] = [
  [24, sender(maps(7 * MB - 4))],
  [4, sender(review(maps(7 * MB - 1_000)))],
  [4, sender(review(maps(MB - 1_000)))],
  [4, sender(review(names))],
  [4, sender(review(`"${'x'.repeat(MB - 1_000)}"`))],
  [4, sender('['.repeat(60_000))],
  [4, sender(randomBytes(100_000))],
  [24, slowly(promised)],
  [24, slowly(almost)],
  [24, slowly('POST / HTTP/1.1\r\nx: ')],
  [100, () => hold(connectTls)],
  [100, () => hold(connectTcp)],
  [10, () => hold(connectTcp, 'GET / HTTP/1.1\r\n\r\n')],
];

function sender(body: string | Buffer): () => Promise<void> {
  const bytes = Buffer.from(body);
  return () => post(bytes);
}

async function attackForever(attack: () => Promise<void>): Promise<never> {
  for (;;) {
    await attack();
    await sleep(PAUSE_MS);
  }
}

await Promise.all(attackers.flatMap(([count, attack]) => Array.from({ length: count }, () => attackForever(attack))));
