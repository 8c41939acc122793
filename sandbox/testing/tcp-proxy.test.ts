import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { eventually } from './eventually.ts';
import { reset } from './tcp-proxy.ts';

const openSockets = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

it('a socket that is reset while it ends is closed, and keeps no process alive', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const before = openSockets();
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.end();
  reset(socket);
  await eventually(() => expect(openSockets()).toBe(before));
  server.close();
});
