import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import { ConnectionError } from './errors.ts';

/** One HTTP request, as it goes over the wire. */
export interface Exchange {
  readonly server: URL;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Asked in the moment in which the request would go out: when it throws, nothing is sent. */
  readonly fence?: (() => void) | undefined;
  /** Until the whole answer is there or, for a stream, its head. */
  readonly timeoutMs: number;
}

/** A kept-alive connection turned out to be closed already: nothing of this request was answered, most likely nothing of it read. */
export class StaleSocketError extends ConnectionError {}

/** Whoever asked is not allowed to any more; nothing was sent. */
export class FencedError extends Error {}

/** What is left to do with an answer whose head has arrived. */
export interface Answer {
  readonly message: IncomingMessage;
  /** From now on silence is the reader's business: a stream has no end to wait for. */
  releaseTimeout(): void;
  /** Hands every chunk over; resolves at the end of the answer, and throws a ConnectionError where it breaks off. */
  read(onChunk: (chunk: Buffer) => void): Promise<void>;
}

/** Long enough not to disturb an idle node, short enough to notice within a minute that the other side is gone. */
const keepAliveProbeMs = 30_000;

/** Sends a request and resolves with its answer's head. Throws the signal's reason, or a ConnectionError. */
export async function exchange(asked: Exchange): Promise<Answer> {
  asked.signal?.throwIfAborted();
  const { hostname, port, protocol } = asked.server;
  const send = protocol === 'http:' ? overHttp : overHttps;
  const request = send({
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? undefined : port,
    agent: asked.agent,
    method: asked.method,
    path: asked.path,
    headers: asked.headers,
  });
  const guard = guardOf(request, asked);
  try {
    const message = await headOf(request, asked);
    return { message, releaseTimeout: guard.releaseTimeout, read: (onChunk) => readAll(message, { onChunk, guard }) };
  } catch (error) {
    guard.release();
    throw guard.explain(error, request.reusedSocket);
  }
}

function headOf(request: ClientRequest, { body, fence }: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // Stays for the life of the request: a late error without a listener would end the process.
    request.on('error', reject);
    request.once('socket', (socket) => {
      if (!request.reusedSocket) socket.setKeepAlive(true, keepAliveProbeMs).setNoDelay(true);
      // It may have waited for this connection, and the process may have stood still meanwhile.
      try {
        fence?.();
      } catch (error) {
        reject(error as Error);
        request.destroy();
      }
    });
    request.end(body);
  });
}

interface Guard {
  releaseTimeout(): void;
  release(): void;
  explain(error: unknown, reusedSocket: boolean): unknown;
}

/** Ends the request when the caller aborts or the time is up, and tells afterwards what it was that ended it. */
function guardOf(request: ClientRequest, asked: Exchange): Guard {
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    request.destroy(new Error('timed out'));
  }, asked.timeoutMs);
  const onAbort = (): void => {
    request.destroy(new Error('aborted'));
  };
  asked.signal?.addEventListener('abort', onAbort, { once: true });
  const releaseTimeout = (): void => clearTimeout(timer);
  return {
    releaseTimeout,
    release() {
      releaseTimeout();
      asked.signal?.removeEventListener('abort', onAbort);
    },
    explain(error, reusedSocket) {
      if (error instanceof FencedError) return error;
      if (asked.signal?.aborted === true) return asked.signal.reason;
      if (timedOut) return connectionError(asked, 'TIMEOUT', `no answer within ${String(asked.timeoutMs / 1000)} s`);
      const { code = 'UNKNOWN', message } = error as NodeJS.ErrnoException;
      if (reusedSocket && staleCodes.has(code)) return new StaleSocketError(sentence(asked.server, message), code);
      return connectionError(asked, code, message);
    },
  };
}

const staleCodes: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

const hints: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; is the API server up?',
  ENOTFOUND: 'that name does not resolve',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not from the authority that the credentials name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not from the authority that the credentials name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not from the authority that the credentials name',
};

function connectionError(asked: Exchange, code: string, cause: string): ConnectionError {
  const hint = hints[code];
  return new ConnectionError(sentence(asked.server, hint === undefined ? cause : `${cause}; ${hint}`), code);
}

function sentence(server: URL, cause: string): string {
  const port = server.port === '' ? (server.protocol === 'http:' ? '80' : '443') : server.port;
  return `The API server at ${server.hostname}:${port} cannot be reached: ${cause}`;
}

async function readAll(
  message: IncomingMessage,
  { onChunk, guard }: { onChunk: (chunk: Buffer) => void; guard: Guard },
): Promise<void> {
  try {
    const refusal = await new Promise<{ error: unknown } | undefined>((resolve, reject) => {
      if (message.destroyed) reject(brokenOff());
      message.on('data', (chunk: Buffer) => {
        try {
          onChunk(chunk);
        } catch (error) {
          resolve({ error });
          message.destroy();
        }
      });
      message.once('end', () => resolve(undefined));
      message.once('error', reject);
      // A close without an end or an error before it would leave the promise alone for ever.
      message.once('close', () => reject(brokenOff()));
    }).catch((error: unknown) => Promise.reject(guard.explain(error, false) as Error));
    if (refusal !== undefined) throw refusal.error;
  } finally {
    guard.release();
  }
}

const brokenOff = (): Error => Object.assign(new Error('the answer broke off'), { code: 'ECONNRESET' });
