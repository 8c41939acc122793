import { once } from 'node:events';
import { Agent, createServer, request } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueServing } from '../../runtime/certificates/issue.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { freePorts } from '../control-plane/processes.ts';

export interface Passing {
  readonly method: string;
  readonly path: string;
  readonly isWatch: boolean;
  readonly isWrite: boolean;
  /** The id of the request's credential, as in the audit log. */
  readonly credential: string;
}

export type Interference =
  | Delayed
  /** Answers at once. The API server does not receive the request. */
  | { readonly answer: number; readonly retryAfterSeconds?: number }
  /** Answers with a stream of these lines, which stays open. The API server does not receive the request. */
  | { readonly lines: Iterable<string> };

/** The answer waits for `holdAnswer`. With `cutBody`, the connection breaks after half of the body. */
interface Delayed {
  readonly holdAnswer?: () => Promise<unknown>;
  readonly cutBody?: true;
}

/** A proxy between the managers and the API server, which observes, delays and breaks requests. */
export type ApiProxy = Awaited<ReturnType<typeof startApiProxy>>;

export async function startApiProxy({ server, ca, authority }: ControlPlane) {
  const [port = 0] = await freePorts(1);
  const validity = { now: new Date(), days: 1 };
  const { certificate, key } = await issueServing(authority, ['127.0.0.1'], validity);
  const agent = new Agent({ keepAlive: true, ca });
  const watches = new Set<ServerResponse>();
  const proxy = {
    server: `https://127.0.0.1:${port}`,
    interfere: undefined as ((passing: Passing) => Interference | undefined) | undefined,
    /** Returns the number of cut watches. */
    cutWatches(pick: (path: string) => boolean): number {
      const picked = [...watches].filter(({ req }) => pick(req.url ?? ''));
      for (const watch of picked) watch.socket?.destroy();
      return picked.length;
    },
    async close(): Promise<void> {
      listener.closeAllConnections();
      listener.close();
      await once(listener, 'close');
      agent.destroy();
    },
  };
  const listener = createServer({ cert: certificate, key }, (incoming, outgoing) => {
    const passing = toPassing(incoming);
    const interference: Interference = proxy.interfere?.(passing) ?? {};
    if ('answer' in interference) return refuse(incoming, outgoing, interference);
    if ('lines' in interference) return void show(outgoing, interference.lines);
    if (passing.isWatch) {
      watches.add(outgoing);
      outgoing.once('close', () => watches.delete(outgoing));
    }
    const { hostname, port: to } = new URL(server);
    const { method, headers, url: path } = incoming;
    const forwarded = request({ agent, hostname, port: to, method, path, headers });
    forwarded.once('response', (answer) => {
      void pass(answer, outgoing, interference).catch(() => outgoing.destroy());
    });
    // The proxy must not be noticed: an API server that is down resets the connection, and a client that leaves ends its request.
    forwarded.on('error', () => outgoing.socket?.destroy());
    outgoing.once('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  return proxy;
}

function toPassing({ method = '', url = '', headers }: IncomingMessage): Passing {
  return {
    method,
    path: url,
    isWatch: /[?&]watch=(true|1)/.test(url),
    isWrite: method !== 'GET',
    credential: getCredentialId(headers.authorization?.replace('Bearer ', '') ?? ''),
  };
}

/** Returns the id of a ServiceAccount's token, which the audit log has as `JTI=…`. */
export function getCredentialId(token: string): string {
  const [, payload = ''] = token.split('.');
  if (payload === '') return '';
  return `JTI=${(JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jti?: string }).jti ?? ''}`;
}

function refuse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { answer, retryAfterSeconds }: { answer: number; retryAfterSeconds?: number },
): void {
  incoming.resume();
  incoming.once('end', () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: answer, message: 'interfered with' };
    if (retryAfterSeconds !== undefined) outgoing.setHeader('retry-after', retryAfterSeconds);
    outgoing.writeHead(answer, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  });
}

/** A slow reader delays the stream. */
const show = (outgoing: ServerResponse, lines: Iterable<string>): Promise<void> =>
  pipeline(Readable.from(lines), outgoing.writeHead(200, { 'content-type': 'application/json' }), { end: false }).catch(
    () => void outgoing.destroy(),
  );

async function pass(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  { holdAnswer, cutBody: isCut }: Delayed,
): Promise<void> {
  answer.once('error', () => outgoing.socket?.destroy());
  await holdAnswer?.();
  if (isCut === true) return cutBody(answer, outgoing);
  outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
  outgoing.flushHeaders();
  answer.pipe(outgoing);
}

async function cutBody(answer: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const body = await buffer(answer);
  const { 'transfer-encoding': _chunked, ...headers } = answer.headers;
  outgoing.writeHead(answer.statusCode ?? 502, { ...headers, 'content-length': body.length });
  outgoing.write(body.subarray(0, Math.floor(body.length / 2)));
  // The pause sends the half before the connection breaks.
  await sleep(5);
  outgoing.socket?.destroy();
}
