import { lumigo as contract, partOfSelector, pods, workloads } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { getLease, listManagers } from '../installation/installation.ts';
import { listAll } from '../kubernetes/http/client.ts';
import type { ListOptions } from '../kubernetes/http/pages.ts';
import { resourcePath, type ResourceRef } from '../kubernetes/http/paths.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { KubernetesObject } from '../kubernetes/resources/objects.ts';
import { webhooksRef } from '../kubernetes/resources/webhooks.ts';
import { describeError } from '../wording/errors.ts';
import type { CheckContext } from './check-context.ts';
import { checks } from './checks.ts';
import { runChecks } from './finding.ts';
import { redactLumigo, redactOwn, redactWorkload } from './redact.ts';

interface BundleOptions extends CheckContext {
  readonly version: string;
  readonly step: (text: string) => void;
}

/** The kubelet may send slightly more than the limit, and the client refuses an answer above its own. */
export const LOG = { tailLines: 1_000, limitBytes: 4_000_000 };
/** Each node may have a collector. The operator's other pods come first. */
const PODS_WITH_LOGS = 10;
const isOfNode = ({ metadata }: KubernetesObject): number =>
  Number(metadata.labels?.['app.kubernetes.io/component'] === 'node-collector');

/** A part that cannot be read has the reason in its place. No value of a Secret is in it. */
export async function collectBundle(options: BundleOptions): Promise<object> {
  const { transport, version, step } = options;
  const attempt = async (name: string, read: () => Promise<unknown>): Promise<unknown> => {
    step(`reading ${name}`);
    return read().catch((error: unknown) => ({ notRead: describeError(error) }));
  };
  const get = async (path: string) => (await transport.request({ method: 'GET', path })).body;
  return {
    collectedAt: new Date(options.now).toISOString(),
    versions: {
      lumigo: version,
      node: process.version,
      kubernetes: await attempt('the version of Kubernetes', () => get('/version')),
    },
    checks: await attempt('the checks', () => runChecks(checks, options)),
    operator: await attempt('the operator', () => getOperator(options, attempt)),
    namespaces: await attempt('the namespaces', () => getNamespaces(options, attempt)),
  };
}

type Attempt = (name: string, read: () => Promise<unknown>) => Promise<unknown>;

async function getOperator({ client, transport }: BundleOptions, attempt: Attempt): Promise<unknown> {
  const found = await listManagers(client);
  const each = found.map(async ({ deployment, ...installed }) => {
    const { operatorNamespace: namespace } = installed;
    const own = await listAll(client, { ...pods, namespace }, { labelSelector: partOfSelector });
    return {
      namespace,
      deployment: redactOwn(deployment),
      pods: redactOwn(own),
      lease: await attempt('the lease', async () => redactOwn(await client.get(getLease(installed)))),
      webhooks: await attempt('the webhooks', async () => redactOwn(await client.get(webhooksRef(installed)))),
      events: await attempt('events', async () => redactOwn(await listAll(client, { ...kinds.events, namespace }))),
      logs: await attempt('logs', async () => {
        const logs: Record<string, unknown> = {};
        const logged = own.toSorted((a, b) => isOfNode(a) - isOfNode(b)).slice(0, PODS_WITH_LOGS);
        for (const { metadata, ...pod } of logged)
          for (const container of getContainers(pod))
            logs[`${metadata.name}/${container}`] = await attempt(`the log of ${metadata.name}`, async () => {
              const path = resourcePath({ ...pods, namespace, name: metadata.name, subresource: 'log' });
              const { body } = await transport.request({ method: 'GET', path, query: { container, ...LOG } });
              return typeof body === 'string' ? body.split('\n') : body;
            });
        return logs;
      }),
    };
  });
  return Promise.all(each);
}

const getContainers = ({ spec }: { readonly [field: string]: unknown }): string[] => {
  const { initContainers = [], containers = [] } = spec as Record<string, readonly { readonly name: string }[]>;
  return [...initContainers, ...containers].map(({ name }) => name);
};

async function getNamespaces(options: BundleOptions, attempt: Attempt): Promise<unknown> {
  const { client, namespace } = options;
  const lumigoes = await options.lumigoes();
  const names =
    namespace === undefined ? [...new Set(lumigoes.map(({ metadata }) => metadata.namespace))].sort() : [namespace];
  const found: Record<string, unknown> = {};
  for (const name of names) {
    const list = (ref: ResourceRef, more: ListOptions = {}) => listAll(client, { ...ref, namespace: name }, more);
    const redacted = async (ref: ResourceRef, kind: { readonly apiVersion: string; readonly kind: string }) =>
      (await list(ref)).map((each) => redactWorkload({ ...each, ...kind } as Workload));
    const parts: Record<string, unknown> = {
      [contract.plural]: lumigoes.filter(({ metadata }) => metadata.namespace === name).map(redactLumigo),
      events: await attempt(`events in ${name}`, async () =>
        (await list(kinds.events)).filter(({ reason }) => String(reason).startsWith('Lumigo')).map(redactOwn),
      ),
      pods: await attempt(`pods in ${name}`, () => redacted(pods, { apiVersion: 'v1', kind: 'Pod' })),
    };
    for (const kind of workloads)
      parts[kind.plural] = await attempt(`${kind.plural} in ${name}`, () => redacted(kind, kind));
    found[name] = parts;
  }
  return found;
}
