import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { Agent, request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { issueAuthority, issueServing } from '../certificates/issue.ts';
import { serveTls, type TlsServer } from './tls-server.ts';

const validity = { now: new Date(), days: 1 };
const authority = await issueAuthority('test', validity);
const pair = await issueServing(authority, ['127.0.0.1'], validity);

let server: TlsServer | undefined;
const agents: Agent[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close(0, 0);
  server = undefined;
});

async function serve(mostConnections: number, app: RequestListener): Promise<number> {
  const [port = 0] = await freePorts(1);
  server = await serveTls(app, { port, host: '127.0.0.1' }, 'the webhook', mostConnections);
  server.useCertificate({ cert: Buffer.from(pair.certificate), key: Buffer.from(pair.key) });
  return port;
}

interface Answered {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly isReused: boolean;
}

function client(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.certificate });
  agents.push(agent);
  return (path = '/') =>
    new Promise<Answered>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path, agent, method: 'POST' }, (response) => {
        const { statusCode: status, headers } = response;
        response.resume().on('end', () => {
          // The agent reuses a socket only after this event.
          setImmediate(() => resolve({ status, connection: headers.connection, isReused: sent.reusedSocket }));
        });
      });
      sent.on('error', reject);
      sent.end();
    });
}

/** Opens 100 connections at once that never send a byte. Resolves when all but the newest `kept` of them are closed. */
async function flood(port: number, count: number, kept: number): Promise<void> {
  const opened: Socket[] = [];
  while (opened.length < count) {
    const batch = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').resume());
    for (const socket of batch) socket.on('error', () => undefined);
    await Promise.all(batch.map((socket) => once(socket, 'connect')));
    opened.push(...batch);
  }
  sockets.push(...opened);
  const oldestClosed = [...times(count - kept, true), ...times(kept, false)];
  await eventually(() => expect(opened.map(({ closed }) => closed)).toEqual(oldestClosed));
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const reused = { status: 200, connection: 'keep-alive', isReused: true };

describe('the TLS server', () => {
  it('says what to do if its port is taken', async () => {
    const port = await serve(1, () => undefined);
    const again = serveTls(() => undefined, { port, host: '127.0.0.1' }, 'the webhook', 1);
    const problem = `cannot listen for the webhook on port ${port}: another program uses this port; choose another port`;
    await expect(again).rejects.toThrow(problem);
  });

  it('answers while it stops and closes each connection with its answer, not earlier [D41]', async () => {
    const port = await serve(8, (_request, response) => void response.end('answered'));
    const ask = client(port);
    expect(await ask()).toEqual({ ...reused, isReused: false });
    expect(await ask()).toEqual(reused);
    const closed = server?.close(3);
    expect(await ask()).toEqual({ ...reused, connection: 'close' });
    expect(await ask()).toEqual({ status: 200, connection: 'close', isReused: false });
    await closed;
  });

  it('closes the oldest silent connections above 512, and none with a request or a response', async () => {
    let answer: (() => void) | undefined;
    const port = await serve(512, (request, response) => {
      request.resume().on('end', () => {
        if (request.url !== '/slow') response.end('answered');
        else answer = () => void response.end('answered');
      });
    });
    const idle = client(port);
    const waiting = client(port);
    await idle();
    const slow = waiting('/slow');
    await idle();
    await flood(port, 600, 510);
    expect(await idle()).toEqual(reused);
    answer?.();
    expect(await slow).toMatchObject({ status: 200 });
  });

  it('gives silent connections no more than half of the places', async () => {
    const port = await serve(8, (_request, response) => void response.end('answered'));
    const clients = times(8, port).map(client);
    for (const ask of clients) await ask();
    await flood(port, 100, 4);
    const answers = await Promise.all(clients.slice(4).map((ask) => ask()));
    expect(answers).toEqual(times(4, reused));
  });

  it('closes the connection that is idle for longest if too many clients send requests', async () => {
    const port = await serve(8, (_request, response) => void response.end('answered'));
    const clients = times(8, port).map(client);
    for (const ask of clients) await ask();
    await clients[0]?.();
    const another = client(port);
    await another();
    const isReused = async (index: number) => (await clients[index]?.())?.isReused;
    expect(await isReused(0)).toBe(true);
    expect((await another()).isReused).toBe(true);
    expect(await isReused(2)).toBe(true);
    expect(await isReused(1)).toBe(false);
  });
});
