import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import { OtlpSink } from '../otlp-sink/sink.ts';
import type { Collector } from '../manager/collector.ts';
import { freePorts } from '../control-plane/processes.ts';
import { startOperator, type OperatorOptions } from './operator.ts';
import { stopOnError } from '../stop-on-error.ts';

export type TelemetryBench = Awaited<ReturnType<typeof startTelemetry>>;

/** Returns a token with a valid shape, a different one for each number. */
export const getToken = (number: number): string => `t_${number.toString(16).padStart(21, '0')}`;

export const getEvent = (namespace: string, name: string, involvedObject: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { namespace, name },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, ...involvedObject },
  reason: 'Tested',
  message: 'an event of a test',
  type: 'Normal',
});

export async function startTelemetry(options: OperatorOptions = {}) {
  // The sink starts again on the same port.
  const [port = 0] = await freePorts(1);
  const sink = await OtlpSink.start({ port });
  const config = { endpoint: sink.url, ...options.config };
  const start = () => startOperator({ ...options, collector: true, config });
  const operator = await stopOnError({ stop: () => sink.close() }, start);
  const { testCluster } = operator;
  const countReloads = (outcome = '') =>
    operator.manager().metric('lumigo_operator_telemetry_proxy_reloads_total', outcome);
  return {
    ...operator,
    sink,
    countReloads,
    collector(): Collector {
      const { collector } = operator.manager();
      if (collector === undefined) throw new Error('the manager has no collector beside it');
      return collector;
    },
    async activate(name: string, token: string, spec: object = {}): Promise<string> {
      const namespace = await testCluster.namespaceForPods(name);
      await testCluster.activate(namespace, spec, token);
      return namespace;
    },
    async waitForCollecting(namespace: string, timeoutMs = 90_000): Promise<number> {
      const started = Date.now();
      await eventually(
        async () => {
          await testCluster.create(getEvent(namespace, `marker-${randomUUID()}`));
          if (!sink.objects.some((object) => object.namespace === namespace))
            throw new Error(`nothing of ${namespace} arrives`);
        },
        { timeoutMs, intervalMs: 100 },
      );
      return Date.now() - started;
    },
    async waitForSettled(): Promise<number> {
      for (let before = await countReloads(); ;) {
        await sleep(2_000);
        const now = await countReloads();
        if (now === before && (await operator.metric('lumigo_operator_telemetry_proxy_reload_pending')) === 0)
          return now;
        before = now;
      }
    },
    /** @throws Error if the collector could not execute a statement. A line for each request lets any sender fill its log. */
    async stop(): Promise<void> {
      const { logFile = '' } = operator.manager().collector ?? {};
      const log = existsSync(logFile) ? readFileSync(logFile, 'utf8') : '';
      await operator.stop();
      await sink.close();
      const [failed] = /^.*failed to execute statement.*$/m.exec(log) ?? [];
      if (failed !== undefined) throw new Error(failed);
    },
  };
}
