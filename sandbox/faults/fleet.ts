import { atOnce } from '../../runtime/async/at-once.ts';
import { labels, workloads } from '../../runtime/contract.ts';
import { isOurs } from '../../runtime/injection/label.ts';
import { uninstrument } from '../../runtime/injection/remove.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { Workload } from '../../runtime/injection/types.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import type { Bench } from '../testing/bench.ts';
import { KubeletByHand } from '../testing/kubelet-by-hand.ts';
import { createRunning, REPLICAS, whenComplete } from '../testing/running-workloads.ts';
import { workloadOf, type WorkloadOptions } from '../testing/workloads.ts';

const [deployment] = workloads;
const IN_FLIGHT = 12;
/** Kubernetes' own controllers note theirs there. */
const THEIRS = 'deployment.kubernetes.io/';

const asDeployment = (object: KubernetesObject): Workload => ({
  ...object,
  apiVersion: deployment.apiVersion,
  kind: deployment.kind,
});

/** Everything of a workload that this operator may change, as text: two that are the same to the byte are the same here. */
export function bytesOf(workload: Workload): string {
  const { labels: given = {}, annotations = {} } = workload.metadata;
  const own = Object.entries(annotations).filter(([key]) => !key.startsWith(THEIRS));
  return JSON.stringify([given, Object.fromEntries(own), templateOf(workload)]);
}

/** Deployments of one namespace, and what their user last made of each. They have no pods, but for those that run. */
export class Fleet {
  /** Of these nothing is expected. */
  readonly exempt = new Set<string>();
  readonly running: string[] = [];
  /** The program of this one crashes with the injection. */
  failing: string | undefined;
  /** Whether what is told of them is counted. */
  isTold = true;
  readonly #made = new Map<string, Workload>();
  #kubelet: KubeletByHand | undefined;

  constructor(
    readonly bench: Bench,
    readonly namespace: string,
  ) {}

  get names(): readonly string[] {
    return [...this.#made.keys()];
  }

  /** How many can run with the injection. */
  get size(): number {
    return this.#made.size - (this.failing === undefined ? 0 : 1);
  }

  /** What a workload would be without an injection, as `bytesOf` says it. */
  expected(name: string): string | undefined {
    const made = this.#made.get(name);
    return made && bytesOf(made);
  }

  async create(name: string, options: WorkloadOptions = {}): Promise<void> {
    this.#note(name, await this.bench.create(workloadOf(deployment, this.namespace, name, options)));
  }

  async fill(count: number, options: WorkloadOptions = {}, prefix = 'app'): Promise<void> {
    await atOnce(IN_FLIGHT, namesOf(prefix, count), (name) => this.create(name, options));
  }

  /** Creates so many that run. The program of the last one crashes with the injection. */
  async run(count: number): Promise<void> {
    const { bench, namespace } = this;
    this.running.push(...namesOf('runs', count));
    this.failing = this.running.at(-1);
    const kubelet = new KubeletByHand(bench, namespace, ({ app, injector }) =>
      app === this.failing && injector !== undefined ? 'crashes' : 'ready',
    );
    this.#kubelet = kubelet;
    for (const name of this.running) this.#note(name, await createRunning(bench, namespace, name));
    for (const name of this.running) await whenComplete(bench, deployment, namespace, name);
    for (const name of this.running) kubelet.count(name);
  }

  /** Those of which fewer pods were ready at some moment than a rollout leaves. */
  interrupted = (): readonly string[] =>
    this.running.filter((name) => (this.#kubelet?.fewestReady(name) ?? REPLICAS) < REPLICAS);

  /** Another image of the first container, as a deployment pipeline sets it. */
  async deploy(name: string, image: string): Promise<void> {
    // A strategic merge would know containers by name; a JSON patch knows the place, and the operator only appends.
    const operations = [{ op: 'replace' as const, path: '/spec/template/spec/containers/0/image', value: image }];
    await this.bench.client.patch(this.ref(name), { kind: 'json', operations });
    const made = this.#of(name);
    const template = templateOf(made);
    const containers = template?.spec.containers.map((each, index) => (index === 0 ? { ...each, image } : each));
    const changed = { ...template, spec: { ...template?.spec, containers } };
    this.#made.set(name, { ...made, spec: { ...(made['spec'] as object), template: changed } });
  }

  /** Puts back the template that the user has, as a controller does that knows nothing of admission. */
  async putBack(name: string): Promise<void> {
    const operations = [{ op: 'replace' as const, path: '/spec/template', value: templateOf(this.#of(name)) }];
    await this.bench.client.patch(this.ref(name), { kind: 'json', operations });
  }

  /** The namespace is to go, and nothing is expected of it any more. */
  forget(): void {
    this.#made.clear();
    this.running.length = 0;
    this.failing = undefined;
    this.isTold = false;
  }

  ref(name: string) {
    return { ...deployment, namespace: this.namespace, name };
  }

  async list(): Promise<Workload[]> {
    return (await listAll(this.bench.client, { ...deployment, namespace: this.namespace })).map(asDeployment);
  }

  /** How many carry the operator's label. */
  async instrumented(): Promise<number> {
    const labelled = { metadataOnly: true, labelSelector: labels.autoTrace };
    const found = await listAll(this.bench.client, { ...deployment, namespace: this.namespace }, labelled);
    return found.filter(({ metadata }) => isOurs(metadata.labels?.[labels.autoTrace])).length;
  }

  async delete(): Promise<void> {
    await this.#kubelet?.stop();
    await atOnce(IN_FLIGHT, this.names, (name) => this.bench.client.delete(this.ref(name)).catch(() => undefined));
  }

  #of(name: string): Workload {
    const made = this.#made.get(name);
    if (made === undefined) throw new Error(`there is no workload ${name} in ${this.namespace}`);
    return made;
  }

  /** As its user would have it without the operator: the answer shows what the server adds, and the webhook may have been there. */
  #note(name: string, made: KubernetesObject): void {
    this.#made.set(name, uninstrument(asDeployment(made)));
  }
}

const namesOf = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
