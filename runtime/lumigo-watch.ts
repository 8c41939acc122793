import type { Logger } from 'pino';
import { lumigo as contract } from './contract.ts';
import type { LumigoResource } from './injection/types.ts';
import { isNotFound } from './kubernetes/errors.ts';
import { listWatch } from './kubernetes/list-watch.ts';
import type { Transport } from './kubernetes/transport.ts';
import type { LumigoStore } from './lumigo-store.ts';
import type { Metrics } from './metrics.ts';
import type { TelemetryProxy } from './telemetry-proxy/proxy.ts';

export interface LumigoWatch {
  /** All Lumigo resources were told once. */
  readonly synced: Promise<void>;
  /**
   * As `synced`, or there is not even a definition of them: then there are none, and whoever installs the definition after the
   * manager does not wait for it in vain. To take anything from anybody, wait for `synced`.
   */
  readonly known: Promise<void>;
  /** Who else is told of a namespace whose Lumigo resources changed. */
  listener: ((namespace: string) => void) | undefined;
}

export interface LumigoWatchOptions {
  readonly transport: Transport;
  readonly lumigoes: LumigoStore;
  readonly telemetry: TelemetryProxy;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Every replica knows the Lumigo resources: the webhook decides by them. */
export function watchLumigoes(options: LumigoWatchOptions): LumigoWatch {
  const { transport, lumigoes, telemetry, metrics, logger, signal } = options;
  const watch: { listener: LumigoWatch['listener'] } = { listener: undefined };
  let onUndefined = (): void => undefined;
  const areUndefined = new Promise<void>((resolve) => (onUndefined = resolve));
  const { synced } = listWatch({
    transport,
    resource: contract,
    signal,
    logger,
    onRestart: (cause, error) => {
      metrics.watchRestarts.inc({ resource: contract.plural, cause });
      if (isNotFound(error)) onUndefined();
      // What broke our watch may have broken the collector's for good, and it does not say so.
      if (cause !== 'ended') telemetry.renew();
    },
    handler: {
      upsert: (object) => {
        const lumigo = object as unknown as LumigoResource;
        if (lumigoes.upsert(lumigo)) watch.listener?.(lumigo.metadata.namespace);
        telemetry.changed();
      },
      delete: ({ namespace = '', uid }) => {
        lumigoes.delete(namespace, uid);
        telemetry.changed();
        watch.listener?.(namespace);
      },
      known: () => lumigoes.known(),
    },
  });
  return Object.assign(watch, { synced, known: Promise.race([synced, areUndefined]) });
}
