import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { getLocal, upToLimit } from './get-local.ts';

it.each([
  ['has 16 MiB', 16 * 1024 * 1024, true],
  ['is longer', 16 * 1024 * 1024 + 1, false],
])('a page that %s is read in full: %d bytes, %p', async (_case, length, isRead) => {
  const server = createServer((_request, response) => response.end(Buffer.alloc(length, 'x'))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const read = text(upToLimit(await getLocal({ port, path: '/' }))).then((page) => page.length === length);
  expect(await read.catch(() => false)).toBe(isRead);
  server.close();
});
