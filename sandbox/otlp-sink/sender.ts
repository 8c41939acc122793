import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerTo, type Answer } from '../answer.ts';

/** Posts OTLP as JSON, as a program's SDK does. Rejects without a connection. */
export function post(
  url: string,
  body: object,
  { token, agent }: { readonly token?: string | undefined; readonly agent?: Agent | undefined } = {},
): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    ...(token === undefined ? {} : { authorization: `LumigoToken ${token}` }),
  };
  return answerTo(request(url, { method: 'POST', headers, agent }).end(JSON.stringify(body)));
}

type Texts = Readonly<Record<string, string>>;

export const countSpans = (resource: Texts, ids: readonly string[], ofSpan: Texts = {}): object =>
  bodyOf('Spans', resource, {
    spans: ids.map((spanId) => ({
      traceId: spanId.repeat(2),
      spanId,
      name: 'GET /',
      kind: 2,
      startTimeUnixNano: '1700000000000000000',
      endTimeUnixNano: '1700000000100000000',
      attributes: attributes(ofSpan),
    })),
  });

/** Returns a request whose attributes are each there several times, which no SDK sends. */
export const repeatAttributes = (body: object, times: number): object =>
  JSON.parse(JSON.stringify(body), (key, value: unknown) =>
    key === 'attributes' ? Array.from({ length: times }, () => value as unknown[]).flat() : value,
  ) as object;

export const toLog = (resource: Texts, text: string): object =>
  bodyOf('Logs', resource, { logRecords: [{ body: { stringValue: text } }] });

/** One gauge with one value. */
export const toMetric = (resource: Texts, name: string, value: number): object => {
  const gauge = { dataPoints: [{ timeUnixNano: '1700000000000000000', asDouble: value }] };
  return bodyOf('Metrics', resource, { metrics: [{ name, gauge }] });
};

const bodyOf = (kind: 'Spans' | 'Logs' | 'Metrics', resource: Texts, items: object): object => ({
  [`resource${kind}`]: [
    {
      resource: { attributes: attributes(resource) },
      [`scope${kind}`]: [{ scope: { name: 'test' }, ...items }],
    },
  ],
});

const attributes = (values: Texts) =>
  Object.entries(values).map(([key, value]) => ({ key, value: { stringValue: value } }));

export const spanId = (number: number): string => number.toString(16).padStart(16, '0');

interface FlowShape {
  /** Spans in a request. Default: 20. */
  readonly perRequest?: number;
  /** Attributes of each span. Default: none. */
  readonly ofSpan?: Texts;
}

const GIVE_UP_MS = 60_000;

/** Sends spans at a steady rate, as SDKs do: requests are repeated for a minute without a connection, or on 429, 502, 503 and 504. */
export function startFlow(url: string, tokens: readonly string[], spansPerSecond: number, shape: FlowShape = {}) {
  const { perRequest = 20, ofSpan } = shape;
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const latencies: number[] = [];
  const pending = new Set<Promise<void>>();
  let requests = 0;
  let acknowledged = 0;
  let repeated = 0;
  let refused = 0;
  let failure: Error | undefined;
  const deliver = async (token: string, ids: readonly string[]): Promise<void> => {
    const started = Date.now();
    while (failure === undefined) {
      const { status } = await post(`${url}/v1/traces`, countSpans({ 'service.name': 'flow' }, ids, ofSpan), {
        token,
        agent,
      }).catch(() => ({ status: 0 }));
      if (status === 200) break;
      if (![0, 429, 502, 503, 504].includes(status)) failure = new Error(`the proxy answered ${status}`);
      if (Date.now() - started > GIVE_UP_MS) failure = new Error(`the proxy took nothing for ${GIVE_UP_MS / 1_000} s`);
      repeated += 1;
      if (status !== 0) refused += 1;
      await sleep(100);
    }
    acknowledged += ids.length;
    latencies.push(Date.now() - started);
  };
  const timer = setInterval(
    () => {
      const first = 1 + requests * perRequest;
      const ids = Array.from({ length: perRequest }, (_, index) => spanId(first + index));
      const one = deliver(tokens[requests % tokens.length] ?? '', ids);
      requests += 1;
      pending.add(one);
      void one.finally(() => pending.delete(one));
    },
    (1_000 * perRequest) / spansPerSecond,
  );
  return {
    sent: (): number => acknowledged,
    /** Milliseconds until each request was acknowledged, repetitions included. */
    latencies,
    repeated: (): number => repeated,
    /** Without those whose connection the server had closed because it was idle. */
    refused: (): number => refused,
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all(pending);
      agent.destroy();
      if (failure !== undefined) throw failure;
    },
  };
}
