import type { V1PodStatus } from '@kubernetes/client-node';
import { managerSelector, pods as podKind } from '../../runtime/contract.ts';
import type { PodSpec } from '../../runtime/api/objects.ts';
import { listAll, type Client } from '../../runtime/kubernetes/http/client.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import { ensureImages } from '../images/images.ts';
import { hasCondition } from '../lumigo.ts';
import { install } from '../manager/install.ts';
import { eventually } from '../testing/eventually.ts';
import { startNode, type NodeCluster, type NodeOptions } from './node.ts';
import { startSink } from './script.ts';
import { stopOnError } from '../stop-on-error.ts';

export type NodeWithSink = Awaited<ReturnType<typeof startNodeWithSink>>;

const READY_MS = 120_000;

export async function startNodeWithOperator(settings: object, options: NodeOptions): Promise<NodeWithSink> {
  const { node, sink } = await startNodeWithSink(options);
  options.onProgress?.('the node is ready; installing the operator');
  await stopOnError(node, () => installOnNode(node, sink.url, settings));
  return { node, sink };
}

/** Starts a node with all images and a sink in place of Lumigo, but without the operator. */
export async function startNodeWithSink(options: NodeOptions) {
  const images = await ensureImages(options.onProgress ?? (() => undefined));
  const node = await startNode(images, options);
  return { node, sink: await stopOnError(node, () => startSink(node)) };
}

interface Given {
  readonly controllerManager?: { readonly replicas?: number };
}

export async function installOnNode(node: NodeCluster, endpoint: string, given: Given = {}): Promise<void> {
  const settings = { endpoint: { otlp: { url: endpoint } }, cluster: { name: 'sandbox' }, ...given };
  await install(node.client, { settings, webhook: 'service' });
  await waitForOperator(node, given.controllerManager?.replicas);
}

export interface PodView extends KubernetesObject {
  readonly spec: PodSpec;
  readonly status?: V1PodStatus;
}

export const getPods = async (node: NodeCluster, namespace: string, labelSelector?: string): Promise<PodView[]> =>
  (await listAll(node.client, { ...podKind, namespace }, { labelSelector })) as PodView[];

export const isReady = ({ status, metadata }: PodView): boolean =>
  metadata.deletionTimestamp === undefined && hasCondition('Ready', status);

export const waitForOperator = (node: NodeCluster, replicas = 2): Promise<void> =>
  eventually(
    async () => {
      const pods = await getPods(node, 'lumigo-system', managerSelector);
      if (pods.length === replicas && pods.every(isReady)) return;
      throw new Error(pods.map(({ metadata, status }) => `${metadata.name}: ${JSON.stringify(status)}`).join('\n'));
    },
    { complaint: 'the operator was not ready', timeoutMs: READY_MS },
  );

/** Returns the address of a service, which this machine reaches as well. */
export async function getAddress(client: Client, namespace: string, name: string): Promise<string> {
  const ref = { group: '', version: 'v1', plural: 'services', namespace, name };
  const { spec } = (await client.get(ref)) as unknown as { spec: { clusterIP: string } };
  return `http://${spec.clusterIP}`;
}
