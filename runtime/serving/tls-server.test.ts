import { expect, it } from '@jest/globals';
import { Agent, request } from 'node:https';
import { issueAuthority, issueServing } from '../certificates/issue.ts';
import { serveTls } from './tls-server.ts';

it('D41: while it drains it answers, and ends each connection with the answer, so that none is closed under a request', async () => {
  const validity = { now: new Date(), days: 1 };
  const authority = await issueAuthority('test', validity);
  const pair = await issueServing(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }, validity);
  const server = serveTls((_request, response) => void response.end('answered'), {
    ...{ port: 0, host: '127.0.0.1', purpose: 'the webhook', mostConnections: 8 },
  });
  const port = await server.listening;
  server.useCertificate({ cert: Buffer.from(pair.certificate), key: Buffer.from(pair.key) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.certificate });
  const ask = () =>
    new Promise<{ status: number | undefined; connection: string | undefined; isReused: boolean }>(
      (resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port, agent, method: 'POST' }, (response) => {
          const { statusCode: status, headers } = response;
          response.resume().on('end', () => {
            // The agent puts a socket back after this event.
            setImmediate(() => resolve({ status, connection: headers.connection, isReused: sent.reusedSocket }));
          });
        });
        sent.on('error', reject);
        sent.end();
      },
    );
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive', isReused: false });
  expect(await ask()).toEqual({ status: 200, connection: 'keep-alive', isReused: true });
  const closed = server.close(0.5);
  expect(await ask()).toEqual({ status: 200, connection: 'close', isReused: true });
  expect(await ask()).toEqual({ status: 200, connection: 'close', isReused: false });
  await closed;
  agent.destroy();
});
