import { join } from 'node:path';
import type { RuntimeConfig } from '../config/config.ts';
import { telemetryProxyFiles } from '../contract.ts';

export interface ProxySettings extends RuntimeConfig {
  /** The uid of the namespace `kube-system`, which identifies the cluster; undefined until it was read. */
  readonly clusterUid?: string | undefined;
  /** The result of `toTokenNamespaces`; undefined until the tokens were read. */
  readonly tokenNamespaces?: string | undefined;
}

export type Folder = Pick<ProxySettings, 'telemetryProxyDirectory'>;

export const toFile = ({ telemetryProxyDirectory: folder }: Folder, file: keyof typeof telemetryProxyFiles): string =>
  join(folder, telemetryProxyFiles[file]);

export interface Collection {
  readonly namespaces: readonly CollectedNamespace[];
  /** The objects of these namespaces are all sent once, before changes. */
  readonly initial: readonly string[];
  /** The resourceVersions, by plural, until which everything was sent. */
  readonly since: Readonly<Record<string, string>>;
  /** The collector is up only when it knows all pods. */
  readonly waitsForPods: boolean;
  /** The loop accepts both. The second one is for data of nodes. */
  readonly key: string;
  readonly nodeKey: string;
}

export interface CollectedNamespace {
  readonly name: string;
  readonly token: string;
  /** The uid of the `Lumigo` resource, or another text that changes with the sender. */
  readonly lumigo: string;
  readonly sends: readonly Sent[];
}

/** `metrics` are those of nodes. Only the leader sends events and scrapes kube-state-metrics. For `port` see render-nodes.ts. */
export type Sent = 'events' | 'logFiles' | 'port' | 'metrics' | 'kubeStateMetrics';

export interface CollectorConfiguration extends Omit<Parts, 'pipelines'> {
  readonly service: Pick<Parts, 'pipelines'> & { readonly extensions: readonly string[]; readonly telemetry: object };
}

export interface Parts {
  readonly extensions: Components;
  readonly receivers: Components;
  readonly processors: Components;
  readonly exporters: Components;
  readonly connectors: Components;
  readonly pipelines: Readonly<Record<string, Pipeline>>;
}

export type Components = Readonly<Record<string, object>>;

interface Pipeline {
  readonly receivers: readonly string[];
  readonly processors?: readonly string[];
  readonly exporters: readonly string[];
}
