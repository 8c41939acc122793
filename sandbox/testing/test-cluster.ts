import { isDeepStrictEqual } from 'node:util';
import { labels, lumigo as contract, workloadKinds, type WorkloadKind } from '../../runtime/contract.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import type { PodTemplate, Workload } from '../../runtime/api/objects.ts';
import type { Condition, LumigoResource } from '../../runtime/api/lumigo.ts';
import { listAll, type Client } from '../../runtime/kubernetes/http/client.ts';
import type { ResourceRef } from '../../runtime/kubernetes/http/paths.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import type { KubernetesObject, Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { getLumigo, getSecret, isInstrumented } from '../lumigo.ts';
import { apply, getCollection } from '../manager/apply.ts';
import { waitForDeletion } from './destroy.ts';
import { eventually } from './eventually.ts';
import { createWorkload } from './workloads.ts';

const { deployment } = workloadKinds;

/** A replica that is ready may not lead yet. The webhook is probed once a minute, and so are tokens that were refused. */
const WAIT = { timeoutMs: 100_000 };

/** The shape is valid, but no Lumigo account has this token. */
export const validToken = `t_${'0123456789abcdef01234'}`;

export interface EventView {
  readonly reason: string;
  readonly type: string;
  readonly message: string;
  readonly involvedObject: { readonly kind: string; readonly name: string; readonly uid?: string };
}

/** A cluster, for tests that act as its administrator. They never read through a cache under test. */
export class TestCluster {
  #namespaces = 0;
  /** The requests that the webhook must answer at once before it counts as ready. */
  protected readonly probesAtOnce: number = 1;

  constructor(readonly client: Client) {}

  async namespace(prefix: string, more: { labels?: Record<string, string> } = {}): Promise<string> {
    this.#namespaces += 1;
    const name = `${prefix}-${process.pid}-${this.#namespaces}`;
    await this.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, ...more } });
    return name;
  }

  /** Creates a namespace with the account of its pods, which is missing without a controller manager. */
  async namespaceForPods(...args: Parameters<TestCluster['namespace']>): Promise<string> {
    const namespace = await this.namespace(...args);
    await this.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'default' } });
    return namespace;
  }

  create = async (manifest: Manifest): Promise<KubernetesObject> =>
    (await this.client.create(getCollection(manifest), manifest)).object;

  async apply(...manifests: readonly object[]): Promise<void> {
    for (const manifest of manifests) await apply(this.client, manifest as Manifest, 'test');
  }

  async dryRun(manifest: Manifest): Promise<Workload> {
    const { object } = await this.client.create(getCollection(manifest), manifest, { dryRun: true });
    return { ...object, apiVersion: manifest.apiVersion, kind: manifest.kind };
  }

  async get(kind: WorkloadKind, namespace: string, name: string): Promise<Workload> {
    const object = await this.client.get({ ...kind, namespace, name });
    return { ...object, apiVersion: kind.apiVersion, kind: kind.kind };
  }

  async toTemplate(kind: WorkloadKind, namespace: string, name: string): Promise<PodTemplate> {
    const template = toTemplate(await this.get(kind, namespace, name));
    if (template === undefined) throw new Error(`${kind.kind} ${namespace}/${name} has no pod template`);
    return template;
  }

  merge = async (kind: WorkloadKind, namespace: string, name: string, body: object): Promise<KubernetesObject> =>
    (await this.client.patch({ ...kind, namespace, name }, { kind: 'merge', body })).object;

  async setStatus(ref: ResourceRef, status: object): Promise<void> {
    await this.client.patch({ ...ref, subresource: 'status' }, { kind: 'merge', body: { status } });
  }

  secret = (namespace: string, token = validToken, name?: string): Promise<void> =>
    this.apply(getSecret(namespace, token, name));

  async lumigo(namespace: string, spec: object = {}, name = 'lumigo'): Promise<void> {
    await this.create(getLumigo(namespace, spec, name));
  }

  async activate(namespace: string, spec: object = {}, token = validToken): Promise<void> {
    await this.secret(namespace, token);
    await this.lumigo(namespace, spec);
    await this.waitForActive(namespace);
  }

  /** Creates a namespace with an active `Lumigo`, and an instrumented Deployment `app`. Returns its name. */
  async instrumented(prefix: string, spec: object = {}): Promise<string> {
    const namespace = await this.namespace(prefix);
    await this.activate(namespace, spec);
    await this.create(createWorkload(deployment, namespace, 'app'));
    await this.waitForInstrumented(deployment, namespace, 'app');
    return namespace;
  }

  waitForActive = (namespace: string, name = 'lumigo'): Promise<void> =>
    this.waitForCondition(namespace, 'Active', { status: 'True' }, name);

  /** Waits until the webhook knows the `Lumigo`'s status, which it learns a moment after the status shows it. */
  async waitForWebhook(
    namespace: string,
    probe = createWorkload(deployment, namespace, 'webhook-probe'),
  ): Promise<void> {
    await eventually(async () => {
      const probes = await Promise.all(Array.from({ length: this.probesAtOnce }, () => this.dryRun(probe)));
      if (!probes.every((each) => isInstrumented(toTemplate(each)))) throw new Error('the webhook injects nothing yet');
    });
  }

  readLumigo = async (namespace: string, name = 'lumigo'): Promise<LumigoResource> =>
    (await this.client.get({ ...contract, namespace, name })) as unknown as LumigoResource;

  condition = async (namespace: string, wanted: string, name = 'lumigo'): Promise<Condition | undefined> =>
    (await this.readLumigo(namespace, name)).status?.conditions?.find(({ type }) => type === wanted);

  async waitForCondition(namespace: string, type: string, expected: Partial<Condition>, name?: string): Promise<void> {
    await eventually(async () => {
      const found = await this.condition(namespace, type, name);
      if (!isDeepStrictEqual({ ...found, ...expected }, found))
        throw new Error(`'${type}' of the Lumigo in ${namespace} is ${JSON.stringify(found)}`);
    }, WAIT);
  }

  async changeLumigo(namespace: string, body: object, name = 'lumigo'): Promise<void> {
    await this.client.patch({ ...contract, namespace, name }, { kind: 'merge', body });
  }

  async deleteLumigo(namespace: string, name = 'lumigo'): Promise<void> {
    await this.client.delete({ ...contract, namespace, name });
    await waitForDeletion(this, getLumigo(namespace, {}, name));
  }

  async events(namespace: string, name?: string): Promise<EventView[]> {
    const fieldSelector = name === undefined ? undefined : `involvedObject.name=${name}`;
    const found = await listAll(this.client, { ...kinds.events, namespace }, { fieldSelector });
    return (found as unknown as EventView[]).filter(({ reason }) => reason.startsWith('Lumigo'));
  }

  reasons = async (namespace: string, name: string): Promise<string[]> =>
    (await this.events(namespace, name)).map(({ reason }) => reason).sort();

  label = async (kind: WorkloadKind, namespace: string, name: string): Promise<string | undefined> =>
    (await this.get(kind, namespace, name)).metadata.labels?.[labels.autoTrace];

  isInstrumented = async (kind: WorkloadKind, namespace: string, name: string): Promise<boolean> =>
    isInstrumented(await this.toTemplate(kind, namespace, name));

  async waitForInstrumented(kind: WorkloadKind, namespace: string, name: string, expected = true): Promise<void> {
    await eventually(async () => {
      if ((await this.isInstrumented(kind, namespace, name)) !== expected)
        throw new Error(`${kind.kind} ${name} is ${expected ? 'not' : 'still'} instrumented`);
    });
  }
}
