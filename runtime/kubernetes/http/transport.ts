import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';
import { describeError } from '../../wording/errors.ts';
import type { Connection } from './credentials.ts';
import { ApiError, ConnectionError, isFailure, isUnauthorized } from './errors.ts';
import { type Answer, type Exchange, exchange, keepAliveMsecs, parseRetryAfter, parseWarnings } from './exchange.ts';
import { toLines, type Body } from './reading.ts';
import { type Query, queryString, requestKind, type RequestKind } from './paths.ts';
import { type Pool, retryAfterMs, type Repetition } from './retry-after.ts';

export interface ApiRequest extends Pick<Exchange, 'path' | 'signal' | 'fence' | 'maxBytes'>, Repetition {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  /** Default `application/json`. */
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  /** The limit of one attempt. Default 30 s, and 40 s for a write. */
  readonly timeoutMs?: number | undefined;
  readonly authorization?: string | undefined;
}

interface ApiAnswer extends Body {
  readonly warnings: string[];
}

/** The timeout ends with the head of the answer. */
interface StreamRequest extends Omit<ApiRequest, keyof Repetition | 'body' | 'contentType' | 'maxBytes'> {
  readonly onOpen?: (() => void) | undefined;
  /** If it throws, the stream ends. */
  readonly onValue: (value: unknown) => void;
  /** Called for a line above the limit (byte-budget.ts), which is skipped. */
  readonly onSkipped?: (() => void) | undefined;
}

/** One for each answer, and for the head of a stream. `code` 0: no answer. */
export interface RequestInfo extends RequestKind {
  readonly code: number;
}

export interface TransportOptions {
  readonly userAgent: string;
  readonly onSkipped?: ((resource: string) => void) | undefined;
  readonly logger?: Logger | undefined;
  /** Connections of the pool `work`, default 8. */
  readonly maxSockets?: number | undefined;
  readonly onRequest?: ((info: RequestInfo) => void) | undefined;
}

export interface Transport {
  /** Throws an ApiError from status 300 on, a ConnectionError without an answer, and the signal's reason. */
  request(request: ApiRequest): Promise<ApiAnswer>;
  /** Reads JSON lines until the server ends the answer. A stream that breaks off throws a ConnectionError. */
  stream(request: StreamRequest): Promise<void>;
  /** Counts and reports an object that was not read because of its size. */
  skipped(path: string, bytes: number): void;
  close(): void;
}

/** The API server ends a write after 34 s, of which a webhook may take 30 s. Its answer names the webhook. */
const readTimeoutMs = 30_000;
const writeTimeoutMs = 40_000;
/** The API server closes idle connections after 90 s. Closing earlier avoids a race with it. */
const idleSocketMs = 60_000;

/** Returns the only way to the API server: JSON over kept-alive TLS connections (docs/contributing/adr/0003). */
export function createTransport(connection: Connection, options: TransportOptions): Transport {
  const pools = createPools(connection, options.maxSockets);
  const open = openBy(createAttempt(connection, pools, options), options.logger);
  const skipped = skippedReporter(options);

  return {
    async request(request) {
      const answer = await open(request);
      const { headersDistinct: headers, statusCode = 0 } = answer.message;
      const { body, bytes } = await answer.body();
      if (isFailure(body))
        throw new ApiError(body, { status: statusCode, subject: `${request.method} ${request.path}` });
      return { body, bytes, warnings: parseWarnings(headers.warning ?? []) };
    },
    async stream({ onOpen, onValue, onSkipped, ...request }) {
      const answer = await open({ ...request, method: 'GET', pool: 'standing' });
      answer.releaseTimeout();
      onOpen?.();
      const onLongLine = (bytes: number): void => {
        skipped(request.path, bytes);
        onSkipped?.();
      };
      for await (const line of toLines(answer.bytes(), onLongLine)) onValue(JSON.parse(line));
    },
    skipped,
    close: pools.close,
  };
}

const createAttempt =
  (connection: Connection, pools: ReturnType<typeof createPools>, options: TransportOptions) =>
  async (request: ApiRequest): Promise<Answer> => {
    const { path, query, method, body } = request;
    const authorization = request.authorization ?? (await connection.authorization());
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { ...connection.headers, ...toHeaders(request, text), 'user-agent': options.userAgent };
    let code = 0;
    try {
      const answer = await exchange({
        server: connection.server,
        agent: pools.get(request.pool),
        method,
        path: basePath(connection.server) + path + queryString(query),
        headers: authorization === undefined ? headers : { ...headers, authorization },
        body: text,
        signal: request.signal,
        fence: request.fence,
        timeoutMs: request.timeoutMs ?? (method === 'GET' ? readTimeoutMs : writeTimeoutMs),
        maxBytes: request.maxBytes,
      });
      code = answer.message.statusCode ?? 0;
      return answer;
    } catch (error) {
      pools.renew(error);
      throw error;
    } finally {
      options.onRequest?.({ ...requestKind(method, path, query?.watch === true), code });
    }
  };

const openBy =
  (attempt: ReturnType<typeof createAttempt>, logger: TransportOptions['logger']) =>
  async (request: ApiRequest): Promise<Answer> => {
    let waitedMs = 0;
    let isRefused = false;
    for (let attempts = 1; ; attempts += 1)
      try {
        return await accepted(request, await attempt(request));
      } catch (error) {
        if (isUnauthorized(error) && !isRefused) {
          isRefused = true;
          continue;
        }
        const afterMs = retryAfterMs(error, request, { attempts, waitedMs, random: Math.random() });
        if (afterMs === undefined) throw error;
        waitedMs += afterMs;
        logger?.debug({ path: request.path, problem: describeError(error), afterMs }, 'retrying a request');
        await sleep(afterMs, undefined, { signal: request.signal }).catch(() => request.signal?.throwIfAborted());
      }
  };

function skippedReporter({ onSkipped, logger }: TransportOptions) {
  const reported = new Set<string>();
  return (path: string, bytes: number): void => {
    const { resource } = requestKind('GET', path, true);
    onSkipped?.(resource);
    const level = reported.has(resource) ? 'debug' : 'warn';
    reported.add(resource);
    const hint = 'make it smaller; more objects of this kind are counted in metrics and logged at debug level';
    logger?.[level]({ resource, bytes, hint }, 'skipped an object that is too large to read');
  };
}

/** Returns the transport with bounds for each request. A request's own end, and its own limit of waits, win. */
export const withBounds = (
  transport: Transport,
  bounds: Pick<ApiRequest, 'signal' | 'fence' | 'authorization' | 'maxWaitMs'>,
): Transport => ({
  request({ signal = bounds.signal, maxWaitMs = bounds.maxWaitMs, ...request }) {
    return transport.request({ ...request, ...bounds, signal, maxWaitMs });
  },
  stream: (request) => transport.stream({ ...request, ...bounds, signal: request.signal ?? bounds.signal }),
  skipped: transport.skipped,
  close: () => undefined,
});

function toHeaders({ accept, contentType }: ApiRequest, text: string | undefined): Record<string, string | number> {
  const json = 'application/json';
  if (text === undefined) return { accept: accept ?? json };
  return { accept: accept ?? json, 'content-type': contentType ?? json, 'content-length': Buffer.byteLength(text) };
}

async function accepted({ method, path }: ApiRequest, answer: Answer): Promise<Answer> {
  const { statusCode: status = 0, headers } = answer.message;
  if (status < 300) return answer;
  const retryAfterSeconds = parseRetryAfter(headers['retry-after'], Date.now());
  throw new ApiError((await answer.body()).body, { status, subject: `${method} ${path}`, retryAfterSeconds });
}

/** A kubeconfig's server may have a path (Rancher, `kubectl proxy --api-prefix`). */
const basePath = (server: URL): string => server.pathname.replace(/\/$/, '');

function createPools(connection: Connection, maxSockets = 8) {
  const create = () => {
    const ca = connection.ca?.();
    const work = createAgent(connection, ca, maxSockets);
    const standing = createAgent(connection, ca, Infinity);
    return { ca, work, standing };
  };
  let agents = create();
  return {
    get: (pool: Pool = 'work') => agents[pool],
    /** The cluster's authority may be a new one. Connections in use stay. */
    renew(error: unknown): void {
      if (error instanceof ConnectionError && connection.ca?.() !== agents.ca) agents = create();
    },
    close(): void {
      agents.work.destroy();
      agents.standing.destroy();
    },
  };
}

function createAgent(connection: Connection, ca: string | Buffer | undefined, maxSockets: number): HttpAgent {
  const common = { keepAlive: true, keepAliveMsecs, maxSockets, timeout: idleSocketMs, scheduling: 'lifo' as const };
  if (connection.server.protocol === 'http:') return new HttpAgent(common);
  const { cert, key, serverName } = connection;
  return new HttpsAgent({
    ...common,
    // Otherwise the agent parses the certificates for each connection, and compares them for each request.
    secureContext: createSecureContext({ ca, cert, key }),
    rejectUnauthorized: connection.insecure !== true,
    servername: serverName,
  });
}
