import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerTo } from '../sandbox/answer.ts';
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
      const sent = request(options.url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } });
      const answer = await answerTo(sent.end(options.body)).catch(() => undefined);
      latencies.push(performance.now() - begun);
      if (answer?.status !== 200) failures += 1;
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
    p99Ms: quantile(latencies, 0.99),
  };
}
