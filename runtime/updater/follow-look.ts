import type { RuntimeConfig } from '../config/config.ts';
import type { KubernetesObject } from '../kubernetes/http/client.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import { listWatch } from '../kubernetes/watch/list-watch.ts';
import type { Watching } from '../kubernetes/watch/changes-of.ts';
import type { Metrics } from '../observability/metrics.ts';
import { lookRef, readLook } from './look.ts';

interface FollowOptions extends Watching {
  readonly config: RuntimeConfig;
  readonly metrics: Pick<Metrics, 'newerVersion' | 'updateCheck'>;
}

/** Makes metrics of what the updater has found, which is gone with its pod. While it finds nothing new that costs no request. */
export async function followLook({ config, transport, metrics, logger, signal }: FollowOptions): Promise<void> {
  const { name, ...resource } = lookRef(config);
  const show = (data: Readonly<Record<string, string>>) => {
    const { newest, lookedAtSeconds } = readLook(data, config.version);
    metrics.newerVersion.reset();
    metrics.newerVersion.set({ version: newest }, newest === '' ? 0 : 1);
    metrics.updateCheck.set(lookedAtSeconds);
  };
  show({});
  const watch = listWatch({
    transport,
    resource,
    fieldSelector: `metadata.name=${name}`,
    metadataOnly: false,
    signal,
    logger,
    handler: new Kept(
      (object) => (object as KubernetesObject & { data?: Record<string, string> }).data ?? {},
      (data = {}) => show(data),
    ),
  });
  await watch.stopped;
}
