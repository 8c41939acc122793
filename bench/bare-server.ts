import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/**
 * The lower bound of the webhook's costs: a server that only parses and echoes reviews. It is a process, so its CPU time is measured alone:
 * `bare-server.ts CERTIFICATE KEY` prints the port.
 */
const [certificate = '', key = ''] = process.argv.slice(2);
const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const review: unknown = JSON.parse(Buffer.concat(chunks).toString());
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(review));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
