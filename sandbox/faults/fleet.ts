import { forEachConcurrent } from '../../runtime/async/for-each-concurrent.ts';
import { lumigo as contract, workloadKinds } from '../../runtime/contract.ts';
import { uninstrument } from '../../runtime/injection/remove.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import type { PatchOperation, Workload } from '../../runtime/api/objects.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import { applyStrictly } from '../testing/apply-patch.ts';
import type { TestCluster } from '../testing/test-cluster.ts';
import { KubeletByHand } from '../testing/kubelet-by-hand.ts';
import { createRunning, createWorkload, getBytes, waitForComplete } from '../testing/workloads.ts';
import type { Look } from './reader.ts';

const { deployment } = workloadKinds;
const IN_FLIGHT = 12;

const nothingYet: Look = { atMs: 0, workloads: [], lumigoes: [], events: [] };

/** Deployments of a namespace, as their user made them. */
export class Fleet {
  /** The history counts from here. */
  start = nothingYet;
  now = nothingYet;
  readonly exempt = new Set<string>();
  readonly running: string[] = [];
  /** Its program crashes with the injection. */
  failing: string | undefined;
  isReported = true;
  readonly #made = new Map<string, Workload>();
  #kubelet: KubeletByHand | undefined;

  constructor(
    readonly testCluster: TestCluster,
    readonly namespace: string,
  ) {}

  get names(): readonly string[] {
    return [...this.#made.keys()];
  }

  get size(): number {
    return this.#made.size - (this.failing === undefined ? 0 : 1);
  }

  expected = (name: string): string => getBytes(this.#get(name));

  ref = (name: string) => ({ ...deployment, namespace: this.namespace, name });

  async create(name: string, labels = {}): Promise<void> {
    this.#add(name, await this.testCluster.create(createWorkload(deployment, this.namespace, name, { labels })));
  }

  async fill(count: number, prefix = 'app', labels = {}): Promise<void> {
    await forEachConcurrent(IN_FLIGHT, getNames(prefix, count), (name) => this.create(name, labels));
  }

  /** Creates workloads that run. The last one fails. */
  async run(count: number): Promise<void> {
    const { testCluster, namespace } = this;
    this.running.push(...getNames('runs', count));
    this.failing = this.running.at(-1);
    this.#kubelet = new KubeletByHand(testCluster, namespace, ({ app, injector }) =>
      app === this.failing && injector !== undefined ? 'crashes' : 'ready',
    );
    for (const name of this.running) this.#add(name, await createRunning(testCluster, namespace, name));
    for (const name of this.running) await waitForComplete(testCluster, deployment, namespace, name);
  }

  /** Changes the image of the first container, as a deployment pipeline does. The operator only appends containers. */
  async deploy(name: string, image: string): Promise<void> {
    const operations = [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: image }] as const;
    await this.#patch(name, operations);
    this.#made.set(name, applyStrictly(this.#get(name), operations) as Workload);
  }

  /** Restores the user's template, as a controller without knowledge of admission. */
  restore = (name: string): Promise<void> =>
    this.#patch(name, [{ op: 'replace', path: '/spec/template', value: toTemplate(this.#get(name)) }]);

  deleteLumigo = (): Promise<void> =>
    this.testCluster.client.delete({ ...contract, namespace: this.namespace, name: 'lumigo' });

  /** Its namespace is deleted. */
  forget(): void {
    this.#made.clear();
    this.isReported = false;
  }

  async delete(): Promise<void> {
    await this.#kubelet?.stop();
    await forEachConcurrent(IN_FLIGHT, this.names, (name) =>
      this.testCluster.client.delete(this.ref(name)).catch(() => undefined),
    );
  }

  async #patch(name: string, operations: readonly PatchOperation[]): Promise<void> {
    await this.testCluster.client.patch(this.ref(name), { kind: 'json', operations });
  }

  #get(name: string): Workload {
    const made = this.#made.get(name);
    if (made === undefined) throw new Error(`there is no workload ${name} in ${this.namespace}`);
    return made;
  }

  /** The answer has the server's defaults, but the webhook may have injected it. */
  #add(name: string, answer: KubernetesObject): void {
    this.#made.set(name, uninstrument({ ...answer, apiVersion: deployment.apiVersion, kind: deployment.kind }));
  }
}

const getNames = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
