import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/** `bare-server.ts CERTIFICATE KEY` only echoes reviews. It is the lower bound for the webhook, in a process with its own CPU time. */
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
