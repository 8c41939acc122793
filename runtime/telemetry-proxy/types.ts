import type { RuntimeConfig } from '../config/config.ts';

/** The settings that do not change while a replica runs. */
export interface ProxySettings extends Pick<RuntimeConfig, ConfigKeys> {
  /** The uid of the namespace `kube-system`, which identifies the cluster; undefined until it was read. */
  readonly clusterUid?: string | undefined;
}

type ConfigKeys =
  | 'version'
  | 'deploymentMethod'
  | 'clusterName'
  | 'logLevel'
  | 'listenAddress'
  | 'metricsSecure'
  | 'endpoint'
  | 'logsEndpoint'
  | `otlp${'Http' | 'Grpc'}Port`
  | `telemetry${'Health' | 'Metrics' | 'Loop'}Port`
  | `telemetryProxy${'Directory' | 'QueueDirectory' | 'QueueLaneSize' | 'Credentials'}`;

/** The data that the leader collects. */
export interface Collection {
  /** Sorted by name. */
  readonly namespaces: readonly CollectedNamespace[];
  /** The namespaces whose objects are all sent once, before changes. */
  readonly initial: readonly string[];
  /** Where the watches continue, by the kind's plural: the resourceVersion until which everything was sent. */
  readonly since: Readonly<Record<string, string>>;
  /** Opens the collector's loop for this configuration. */
  readonly key: string;
}

export interface CollectedNamespace {
  readonly name: string;
  readonly token: string;
  /** The uid of its `Lumigo` resource. */
  readonly lumigo: string;
}

/** A collector's configuration, of the components that are used here. */
export interface CollectorConfiguration {
  readonly extensions: Components;
  readonly receivers: Components;
  readonly processors: Components;
  readonly exporters: Components;
  readonly connectors: Components;
  readonly service: {
    readonly extensions: readonly string[];
    readonly telemetry: object;
    readonly pipelines: Readonly<Record<string, Pipeline>>;
  };
}

export type Components = Readonly<Record<string, object>>;

interface Pipeline {
  readonly receivers: readonly string[];
  readonly processors?: readonly string[];
  readonly exporters: readonly string[];
}
