import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { otlpPaths, signals, type Signal } from '../../runtime/contract.ts';
import { decode, type Attributes, type Group, type LogItem, type MetricItem, type SpanItem } from './decode.ts';

export interface Received {
  readonly signal: Signal;
  /** The whole Authorization header. */
  readonly authorization: string;
  readonly resource: Attributes;
  readonly scope: string;
  readonly item: SpanItem | LogItem | MetricItem;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** `discard` accepts unread, `refuse` answers 401 (permanent), `fail` answers 503 (temporary), `hang` does not answer. */
type Mood = 'accept' | 'discard' | 'refuse' | 'fail' | 'hang';

/** A real OTLP/HTTP receiver in place of Lumigo's endpoint. It keeps what it receives, and can misbehave. */
export class OtlpSink {
  readonly received: Received[] = [];
  readonly answered: Record<number, number> = {};
  mood: Mood = 'accept';
  /** Unknown tokens (401). */
  readonly refused = new Set<string>();
  /** Throttled tokens (429). */
  readonly throttled = new Set<string>();
  /** Milliseconds before each answer. */
  delayMs = 0;
  onReceived: (received: Received) => void = () => undefined;
  private readonly server = createServer((request, response) => void this.answer(request, response));

  /** Default: a free port of loopback. */
  static async start({ port = 0, host = '127.0.0.1' } = {}): Promise<OtlpSink> {
    const sink = new OtlpSink();
    await sink.listen(port, host);
    return sink;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  listen(port: number, host = '127.0.0.1'): Promise<void> {
    return new Promise((resolve, reject) => this.server.once('error', reject).listen(port, host, resolve));
  }

  /** Breaks all connections and refuses new ones. `listen` starts it again. */
  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  get spans(): (Received & { item: SpanItem })[] {
    return this.received.filter(({ signal }) => signal === 'traces') as never;
  }

  get objects(): CollectedObject[] {
    return this.received.flatMap(collectedObject);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await buffer(request);
      if (request.url?.startsWith(controlPath) === true) return this.control(request, response);
      await sleep(this.delayMs);
      while (this.mood === 'hang' && !response.destroyed) await sleep(20);
      const status = this.take(request, body);
      this.answered[status] = (this.answered[status] ?? 0) + 1;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    } catch {
      response.destroy();
    }
  }

  /** Serves `GET …/received?since=N` to other processes. */
  private control({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const since = Number(new URL(url, 'http://sink').searchParams.get('since') ?? 0);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(this.received.slice(since)));
  }

  private take({ url = '', headers }: IncomingMessage, body: Buffer): number {
    if (this.mood === 'discard') return 200;
    if (this.mood !== 'accept') return this.mood === 'refuse' ? 401 : 503;
    const complaint = this.findComplaint(headers);
    if (complaint !== undefined) return complaint;
    const signal = signals.find((each) => otlpPaths[each] === url);
    if (signal === undefined) return 404;
    const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    this.keepAll(signal, headers.authorization ?? '', decode(signal, plain, headers['content-type'] ?? ''));
    return 200;
  }

  private findComplaint({ authorization = '' }: IncomingHttpHeaders): number | undefined {
    const token = authorization.replace('LumigoToken ', '');
    if (this.refused.has(token)) return 401;
    return this.throttled.has(token) ? 429 : undefined;
  }

  private keepAll(signal: Signal, authorization: string, groups: readonly Group[]): void {
    const at = Date.now();
    for (const { resource, scope, items } of groups)
      for (const item of items) {
        const received = { signal, authorization, resource, scope, item, at };
        this.received.push(received);
        this.onReceived(received);
      }
  }
}

export const controlPath = '/sandbox/';

export interface CollectedObject {
  /** The plural: `pods`, `events` … */
  readonly resource: string;
  readonly namespace: string;
  /** `ADDED`, `MODIFIED` or `DELETED`. Undefined: the object existed before. */
  readonly change: string | undefined;
  readonly object: {
    readonly kind?: string;
    readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
    readonly involvedObject?: Partial<Record<'kind' | 'name' | 'uid' | 'resourceVersion', string>>;
    readonly [field: string]: unknown;
  };
  readonly received: Received;
}

export function collectedObject(received: Received): CollectedObject[] {
  const { resource, item } = received;
  const plural = item.attributes['k8s.resource.name'];
  if (typeof plural !== 'string' || !('body' in item)) return [];
  const body = item.body as { type?: string; object?: CollectedObject['object'] };
  const object = body.object ?? (item.body as CollectedObject['object']);
  const namespace = String(resource['k8s.namespace.name']);
  return [{ resource: plural, namespace, change: body.object === undefined ? undefined : body.type, object, received }];
}
