import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

/** Serves git repositories over HTTP on loopback, read-only: `git-server.ts FOLDER PORT`. */
const [folder = '', port = ''] = process.argv.slice(2);

/** A CGI program of git implements the protocol. */
createServer((request, response) => {
  const { pathname, search } = new URL(request.url ?? '/', 'http://repository');
  const backend = spawn('git', ['http-backend'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      ...toHeaders(request),
    },
  });
  backend.stdin.on('error', () => undefined);
  request.pipe(backend.stdin);
  answer(backend.stdout, response);
}).listen(Number(port), '127.0.0.1');

const toHeaders = ({ headers }: IncomingMessage): Record<string, string | undefined> => ({
  CONTENT_TYPE: headers['content-type'],
  CONTENT_LENGTH: headers['content-length'],
  HTTP_CONTENT_ENCODING: headers['content-encoding'],
  GIT_PROTOCOL: headers['git-protocol']?.toString(),
});

/** The output of a CGI program begins with headers, maybe with a status. An empty line ends them. */
function answer(body: NodeJS.ReadableStream, response: ServerResponse): void {
  let head = Buffer.alloc(0);
  const take = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) return;
    body.off('data', take).off('end', refuse);
    const lines = head.toString('latin1', 0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const { Status: status = '200', ...others } = headers;
    response.writeHead(Number.parseInt(status, 10), others).write(head.subarray(end + 4));
    body.pipe(response);
  };
  const refuse = (): void => void response.writeHead(500).end();
  body.on('data', take).on('end', refuse);
}
