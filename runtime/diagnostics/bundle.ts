import { programVersion } from '../config/version.ts';
import { lumigo as contract, partOfSelector, pods, workloads } from '../contract.ts';
import type { PodSpec } from '../api/objects.ts';
import { getLease, listManagers } from '../installation/installation.ts';
import { bounds } from '../kubernetes/http/byte-budget.ts';
import { listAll, type KubernetesObject } from '../kubernetes/http/client.ts';
import { resourcePath, type ResourceRef } from '../kubernetes/http/paths.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { webhooksRef } from '../kubernetes/resources/webhooks.ts';
import { describeError } from '../wording/errors.ts';
import type { CheckContext } from './check-context.ts';
import { runChecks } from './checks.ts';
import { redactLumigo, redactOwn, redactWorkload } from './redact.ts';

interface BundleOptions extends CheckContext {
  readonly step: (text: string) => void;
}

type Attempt = (name: string, read: () => Promise<unknown>) => Promise<unknown>;

/** The kubelet may send slightly more than the limit, and the client refuses an answer above its own. */
const LOG = { tailLines: 1_000, limitBytes: bounds.answerBytes - 200_000 };
/** Each node may have a collector. The operator's other pods come first. */
const PODS_WITH_LOGS = 10;
const isOfNode = ({ metadata }: KubernetesObject): number =>
  Number(metadata.labels?.['app.kubernetes.io/component'] === 'node-collector');

/** A part that cannot be read has the reason in its place. No value of a Secret is in it. */
export async function collectBundle(options: BundleOptions): Promise<object> {
  const attempt: Attempt = (name, read) => {
    options.step(`reading ${name}`);
    return read().catch((error: unknown) => ({ notRead: describeError(error) }));
  };
  const version = async () => (await options.transport.request({ method: 'GET', path: '/version' })).body;
  const kubernetes = await attempt('the version of Kubernetes', version);
  return {
    collectedAt: new Date().toISOString(),
    versions: { lumigo: programVersion, node: process.version, kubernetes },
    checks: await attempt('the checks', () => runChecks(options)),
    operator: await attempt('the operator', () => getOperator(options, attempt)),
    namespaces: await attempt('the namespaces', () => getNamespaces(options, attempt)),
  };
}

async function getOperator(options: BundleOptions, attempt: Attempt): Promise<unknown> {
  const { client } = options;
  const found: unknown[] = [];
  for (const { deployment, ...installed } of await listManagers(client)) {
    const { operatorNamespace: namespace } = installed;
    const own = await listAll(client, { ...pods, namespace }, { labelSelector: partOfSelector });
    found.push({
      namespace,
      deployment: redactOwn(deployment),
      pods: redactOwn(own),
      lease: await attempt('the lease', async () => redactOwn(await client.get(getLease(installed)))),
      webhooks: await attempt('the webhooks', async () => redactOwn(await client.get(webhooksRef(installed)))),
      events: await attempt('events', async () => redactOwn(await listAll(client, { ...kinds.events, namespace }))),
      logs: await attempt('logs', () => getLogs(own, options, attempt)),
    });
  }
  return found;
}

async function getLogs(own: readonly KubernetesObject[], { transport }: BundleOptions, attempt: Attempt) {
  const logs: Record<string, unknown> = {};
  for (const { metadata, spec } of own.toSorted((a, b) => isOfNode(a) - isOfNode(b)).slice(0, PODS_WITH_LOGS)) {
    const { namespace, name } = metadata;
    const path = resourcePath({ ...pods, namespace, name, subresource: 'log' });
    const { initContainers = [], containers } = spec as PodSpec;
    for (const { name: container } of [...initContainers, ...containers])
      logs[`${name}/${container}`] = await attempt(`the log of ${name}`, async () => {
        const { body } = await transport.request({ method: 'GET', path, query: { container, ...LOG } });
        return typeof body === 'string' ? body.split('\n') : body;
      });
  }
  return logs;
}

const shown = [{ ...pods, apiVersion: 'v1', kind: 'Pod' }, ...workloads];

async function getNamespaces(options: BundleOptions, attempt: Attempt): Promise<unknown> {
  const { client, namespace } = options;
  const lumigoes = await options.lumigoes();
  const traced = new Set(lumigoes.map(({ metadata }) => metadata.namespace));
  const found: Record<string, unknown> = {};
  for (const name of namespace === undefined ? [...traced].sort() : [namespace]) {
    const list = (ref: ResourceRef) => listAll(client, { ...ref, namespace: name });
    const parts: Record<string, unknown> = {
      [contract.plural]: lumigoes.filter(({ metadata }) => metadata.namespace === name).map(redactLumigo),
      events: await attempt(`events in ${name}`, async () =>
        (await list(kinds.events)).filter(({ reason }) => String(reason).startsWith('Lumigo')).map(redactOwn),
      ),
    };
    for (const ref of shown)
      parts[ref.plural] = await attempt(`${ref.plural} in ${name}`, async () => {
        const { apiVersion, kind } = ref;
        return (await list(ref)).map((each) => redactWorkload({ ...each, apiVersion, kind }));
      });
    found[name] = parts;
  }
  return found;
}
