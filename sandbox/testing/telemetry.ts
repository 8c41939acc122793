import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from './eventually.ts';
import { OtlpSink } from '../otlp-sink/sink.ts';
import type { Collector } from '../manager/collector.ts';
import { freePorts } from '../control-plane/processes.ts';
import { apply } from '../manager/apply.ts';
import { startOperator, type OperatorBench, type OperatorOptions } from './operator.ts';

/** An operator whose managers have their telemetry proxy beside them, and a sink where Lumigo would be. */
export type TelemetryBench = ReturnType<typeof telemetryOn>;

/** A token of the right shape, another for each number. */
export const tokenOf = (number: number): string => `t_${number.toString(16).padStart(21, '0')}`;

/** An event as some controller would post it. */
export const eventOf = (namespace: string, name: string, involvedObject: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { namespace, name },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name, ...involvedObject },
  reason: 'Tested',
  message: 'an event of a test',
  type: 'Normal',
});

export async function startTelemetry(options: OperatorOptions = {}): Promise<TelemetryBench> {
  // It goes and comes back on the same port.
  const [port = 0] = await freePorts(1);
  const sink = await OtlpSink.start({ port });
  try {
    const operator = await startOperator({
      ...options,
      collector: true,
      config: { endpoint: sink.url, ...options.config },
    });
    return telemetryOn(operator, sink);
  } catch (error) {
    await sink.close();
    throw error;
  }
}

function telemetryOn(operator: OperatorBench, sink: OtlpSink) {
  const { bench } = operator;
  return {
    ...operator,
    sink,
    collector(): Collector {
      const { collector } = operator.manager();
      if (collector === undefined) throw new Error('the manager has no collector beside it');
      return collector;
    },
    /** Makes a namespace with an active Lumigo; returns its name. */
    async activate(name: string, token: string, spec: object = {}): Promise<string> {
      const namespace = await bench.namespace(name);
      // Pods need it; where no controller manager runs nobody else makes it.
      const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } };
      await apply(operator.cluster.client, account);
      await bench.activate(namespace, spec, token);
      return namespace;
    },
    /** Writes an event into a namespace, again and again, until one arrives; resolves with the milliseconds that took. */
    async whenCollecting(namespace: string, timeoutMs = 20_000): Promise<number> {
      const started = Date.now();
      await eventually(
        async () => {
          await bench.create(eventOf(namespace, `marker-${randomUUID()}`));
          if (!sink.objects.some((object) => object.namespace === namespace))
            throw new Error(`nothing of ${namespace} arrives`);
        },
        { timeoutMs, intervalMs: 100 },
      );
      return Date.now() - started;
    },
    /** Waits until the collector does what it should, for two seconds without a reload; resolves with how often it was reloaded. */
    async whenSettled(): Promise<number> {
      const reloads = () => operator.metric('lumigo_operator_telemetry_proxy_reloads_total');
      for (let before = await reloads(); ;) {
        await sleep(2_000);
        const now = await reloads();
        if (now === before && (await operator.metric('lumigo_operator_telemetry_proxy_reload_pending')) === 0)
          return now;
        before = now;
      }
    },
    async stop(): Promise<void> {
      await operator.stop();
      await sink.close();
    },
  };
}
