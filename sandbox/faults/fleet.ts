import { atOnce } from '../../runtime/async/at-once.ts';
import { labels, workloads } from '../../runtime/contract.ts';
import { uninstrument } from '../../runtime/injection/remove.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { PodTemplate, Workload } from '../../runtime/injection/types.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import type { Bench } from '../testing/bench.ts';
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

/** Deployments of one namespace, none of them with a pod, and what their user last made of each. */
export class Fleet {
  /** Of these nothing is expected. */
  readonly exempt = new Set<string>();
  /** Whether what is told of them is counted. */
  isTold = true;
  readonly #made = new Map<string, Workload>();

  constructor(
    readonly bench: Bench,
    readonly namespace: string,
  ) {}

  get names(): readonly string[] {
    return [...this.#made.keys()];
  }

  get size(): number {
    return this.#made.size;
  }

  /** What a workload would be without an injection, as `bytesOf` says it. */
  expected(name: string): string | undefined {
    const made = this.#made.get(name);
    return made === undefined ? undefined : bytesOf(made);
  }

  /** As the user would make it without the operator; the answer shows what the server adds. */
  async create(name: string, options: WorkloadOptions = {}): Promise<void> {
    const made = await this.bench.create(workloadOf(deployment, this.namespace, name, options));
    // Where a Lumigo is, the webhook has been there.
    this.#made.set(name, uninstrument(asDeployment(made)));
  }

  async fill(count: number, options: WorkloadOptions = {}, prefix = 'app'): Promise<void> {
    const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
    await atOnce(IN_FLIGHT, names, (name) => this.create(name, options));
  }

  /** Another image of the first container, as a deployment pipeline sets it. */
  async deploy(name: string, image: string): Promise<void> {
    const { made, template } = this.#of(name);
    const [first, ...rest] = template.spec.containers;
    // A strategic merge would know containers by name; a JSON patch knows the place, and the operator only appends.
    const operations = [{ op: 'replace' as const, path: '/spec/template/spec/containers/0/image', value: image }];
    await this.bench.client.patch(this.ref(name), { kind: 'json', operations });
    if (first === undefined) return;
    const spec = { ...template.spec, containers: [{ ...first, image }, ...rest] };
    this.#made.set(name, { ...made, spec: { ...(made['spec'] as object), template: { ...template, spec } } });
  }

  /** Puts back the template that the user has, as a controller does that knows nothing of admission. */
  async putBack(name: string): Promise<void> {
    const operations = [{ op: 'replace' as const, path: '/spec/template', value: this.#of(name).template }];
    await this.bench.client.patch(this.ref(name), { kind: 'json', operations });
  }

  /** The namespace is to go, and nothing is expected of it any more. */
  forget(): void {
    this.#made.clear();
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
    return found.filter(({ metadata }) => metadata.labels?.[labels.autoTrace]?.startsWith('lumigo-operator.')).length;
  }

  async delete(): Promise<void> {
    await atOnce(IN_FLIGHT, this.names, (name) => this.bench.client.delete(this.ref(name)).catch(() => undefined));
  }

  #of(name: string): { readonly made: Workload; readonly template: PodTemplate } {
    const made = this.#made.get(name);
    const template = made === undefined ? undefined : templateOf(made);
    if (made === undefined || template === undefined)
      throw new Error(`there is no workload ${name} in ${this.namespace}`);
    return { made, template };
  }
}
