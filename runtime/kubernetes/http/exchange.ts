import { type Agent, type ClientRequest, type IncomingMessage, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ConnectionError } from './errors.ts';
import { readBody, type Body } from './reading.ts';

export interface Exchange {
  readonly server: URL;
  readonly agent: Agent;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called just before the request is sent. If it throws, nothing is sent. */
  readonly fence?: (() => void) | undefined;
  /** The limit of the whole answer or, for a stream, of its head. */
  readonly timeoutMs: number;
  readonly maxBytes?: number | undefined;
}

/** A kept-alive connection was already closed, so the server most likely read nothing. */
export class StaleSocketError extends ConnectionError {}

/** The caller may no longer send requests, so nothing was sent. */
export class FencedError extends Error {}

export interface Answer {
  readonly message: IncomingMessage;
  /** A stream calls this, because it has no end to wait for. */
  releaseTimeout(): void;
  /** Rejects with ConnectionError or AnswerTooLargeError. */
  body(): Promise<Body>;
  /** Throws a ConnectionError if the answer breaks off. The connection closes when the reader stops. */
  bytes(): AsyncGenerator<Buffer, void, undefined>;
}

/** Notices within a minute that the server disappeared, without disturbing an idle node. */
export const keepAliveMsecs = 30_000;
const opened = new WeakSet<Socket>();

/** Resolves with the head of the answer. Throws the signal's reason, or a ConnectionError. */
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
    signal: asked.signal,
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    request.destroy();
  }, asked.timeoutMs);
  const releaseTimeout = (): void => clearTimeout(timer);
  try {
    const message = await getHead(request, asked);
    const answer = {
      message,
      releaseTimeout,
      async *bytes() {
        try {
          for await (const chunk of message) yield chunk as Buffer;
        } catch (error) {
          throw explained(error, asked, { timedOut, mayBeStale: false });
        } finally {
          releaseTimeout();
        }
      },
    };
    return { ...answer, body: () => readBody(answer, asked) };
  } catch (error) {
    releaseTimeout();
    throw explained(error, asked, { timedOut, mayBeStale: request.reusedSocket });
  }
}

function getHead(request: ClientRequest, { body, fence }: Exchange): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    // A late error without a listener would end the process.
    request.on('error', reject);
    request.once('socket', (socket) => {
      const sendNow = (): void => {
        opened.add(socket);
        // The request may have waited for the connection while the process was suspended.
        try {
          fence?.();
          request.end(body);
        } catch (error) {
          // The fence may have aborted the signal, whose error would come first.
          reject(error as Error);
          request.destroy();
        }
      };
      if (opened.has(socket)) return sendNow();
      // The agent sets it for a TLS connection only when that has become idle.
      socket.setKeepAlive(true, keepAliveMsecs).setNoDelay(true);
      // Bytes written earlier would leave at the end of the handshake, without another look at the fence.
      socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', sendNow);
    });
  });
}

const untrusted = 'its certificate is not signed by the CA of the credentials';
const hints: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'check that the API server is running',
  ENOTFOUND: 'check the host name and DNS',
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
};

function explained(error: unknown, asked: Exchange, how: { timedOut: boolean; mayBeStale: boolean }): unknown {
  if (error instanceof FencedError) return error;
  if (asked.signal?.aborted === true) return asked.signal.reason;
  if (how.timedOut)
    return new ConnectionError(sentence(asked.server, `no answer within ${asked.timeoutMs / 1000} s`), 'TIMEOUT');
  const { code = 'UNKNOWN', message } = error as NodeJS.ErrnoException;
  // A host with several addresses fails with an AggregateError, which has no message.
  const causes = [message || code, hints[code]].filter((text) => text !== undefined);
  const told = sentence(asked.server, causes.join('; '));
  const isStale = how.mayBeStale && (code === 'ECONNRESET' || code === 'EPIPE');
  return isStale ? new StaleSocketError(told, code) : new ConnectionError(told, code);
}

function sentence({ hostname, port, protocol }: URL, cause: string): string {
  const usualPort = protocol === 'http:' ? '80' : '443';
  return `The API server at ${hostname}:${port || usualPort} cannot be reached: ${cause}`;
}

/** Returns the texts of `Warning: 299 - "…"` headers (RFC 7234 §5.5). Other codes are from caches and proxies. */
export function parseWarnings(headers: readonly string[]): string[] {
  const texts = headers.join().matchAll(/(?:^|[,\s])299 \S+ "((?:[^"\\]|\\.)*)"/g);
  return [...texts].map(([, text = '']) => text.replace(/\\(.)/g, '$1'));
}

/** Returns seconds. The API server sends a number, a proxy may send a date. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}
