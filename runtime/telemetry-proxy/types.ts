/** What does not change while a replica runs. */
export interface ProxySettings {
  readonly version: string;
  /** How the operator was installed, e.g. `Helm`; stands on everything that is sent. */
  readonly deploymentMethod: string;
  /** Empty: the cluster has no name. */
  readonly clusterName: string;
  /** The uid of the namespace `kube-system`, by which a cluster is known; undefined until it was read. */
  readonly clusterUid: string | undefined;
  /** Where everything goes, by OTLP over HTTP: a base URL. */
  readonly endpoint: string;
  readonly debug: boolean;
  /** The address that others reach the collector at; empty: every address of the pod. */
  readonly listenAddress: string;
  readonly ports: {
    readonly otlpHttp: number;
    readonly otlpGrpc: number;
    readonly health: number;
    readonly metrics: number;
    readonly loop: number;
  };
  readonly tokensFile: string;
  readonly queueDirectory: string;
  /** How many batches the queue holds while Lumigo does not answer. */
  readonly queueBatches: number;
  /** As whom the collector asks the API server: its pod's ServiceAccount or, beside a cluster, KUBECONFIG. */
  readonly credentials: 'serviceAccount' | 'kubeConfig';
}

/** What a replica that leads collects. */
export interface Collection {
  /** Sorted by name. */
  readonly namespaces: readonly CollectedNamespace[];
  /** Those of which everything there is has to be sent once, before what changes. */
  readonly initial: readonly string[];
  /** Where the watches go on, by the kind's plural: the resourceVersion up to which everything was sent. */
  readonly since: Readonly<Record<string, string>>;
}

export interface CollectedNamespace {
  readonly name: string;
  readonly token: string;
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

export interface Pipeline {
  readonly receivers: readonly string[];
  readonly processors?: readonly string[];
  readonly exporters: readonly string[];
}
