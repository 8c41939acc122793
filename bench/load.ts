import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../sandbox/testing/quantile.ts';

export interface LoadOptions {
  readonly url: URL;
  readonly ca: string;
  readonly connections: number;
  readonly durationMs: number;
  readonly signal?: AbortSignal;
  readonly body: string;
  /** The pause of a connection after each answer. Default: none, so the load takes all of the machine. */
  readonly pauseMs?: number;
}

/** Posts a body again and again over a fixed number of connections. Each waits for its last answer. */
export async function load(options: LoadOptions) {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections, ca: options.ca });
  const latencies: number[] = [];
  let failures = 0;
  const started = performance.now();
  const over = () => performance.now() - started > options.durationMs || options.signal?.aborted === true;
  const worker = async () => {
    while (!over()) {
      const begun = performance.now();
      const status = await post(options, agent).catch(() => 0);
      latencies.push(performance.now() - begun);
      if (status !== 200) failures += 1;
      if (options.pauseMs !== undefined) await sleep(options.pauseMs);
    }
  };
  await Promise.all(Array.from({ length: options.connections }, worker));
  agent.destroy();
  const seconds = (performance.now() - started) / 1000;
  return {
    requests: latencies.length,
    failures,
    perSecond: latencies.length / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
  };
}

function post({ url, body }: LoadOptions, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
