import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';

/** Serves the files of a folder, as a chart repository does. */
export async function serveFolder(folder: string, { port = 0, host = '127.0.0.1' } = {}) {
  const server = createServer((request, response) => {
    const file = createReadStream(join(folder, basename(new URL(request.url ?? '/', 'http://repository').pathname)));
    file.once('error', () => response.writeHead(404).end()).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, close: () => void server.close() };
}
