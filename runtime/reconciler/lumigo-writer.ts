import { lumigo as contract } from '../contract.ts';
import type { LumigoResource, LumigoStatus } from '../injection/types.ts';
import type { LumigoStore } from '../lumigo-store.ts';
import { sameStatus } from './conditions.ts';

export interface LumigoWriterOptions {
  readonly lumigoes: LumigoStore;
  /** Writes the finalizers of a Lumigo, if it is still at this resourceVersion; rejects with a conflict if not. */
  readonly writeFinalizers: (lumigo: LumigoResource, finalizers: readonly string[]) => Promise<LumigoResource>;
  /** Merges into the status of a Lumigo, if it is still at this resourceVersion; rejects with a conflict if not. */
  readonly mergeStatus: (lumigo: LumigoResource, status: Partial<LumigoStatus>) => Promise<LumigoResource>;
}

/** Writes what a Lumigo lacks, and nothing where nothing differs; what the API server answers is known at once. */
export class LumigoWriter {
  readonly #options: LumigoWriterOptions;
  /** The list last written per Lumigo: the store does not keep it. */
  readonly #listed = new Map<string, LumigoStatus['instrumentedResources']>();

  constructor(options: LumigoWriterOptions) {
    this.#options = options;
  }

  async addFinalizer(lumigo: LumigoResource): Promise<void> {
    const { finalizers = [] } = lumigo.metadata;
    if (finalizers.includes(contract.finalizer)) return;
    this.#know(await this.#options.writeFinalizers(lumigo, [...finalizers, contract.finalizer]));
  }

  async removeFinalizer(lumigo: LumigoResource): Promise<void> {
    const { finalizers = [], namespace, uid } = lumigo.metadata;
    if (!finalizers.includes(contract.finalizer)) return;
    const left = finalizers.filter((finalizer) => finalizer !== contract.finalizer);
    await this.#options.writeFinalizers(lumigo, left);
    this.#listed.delete(uid);
    // With our finalizer gone it no longer counts, even where another one still keeps it.
    this.#options.lumigoes.delete(namespace, uid);
  }

  /** The list found on a Lumigo that an earlier leader wrote. */
  adopt(lumigo: LumigoResource): void {
    this.#listed.set(lumigo.metadata.uid, lumigo.status?.instrumentedResources ?? []);
  }

  /** Writes a status where it says something new. The list, the one large part, waits until the namespace is at rest. */
  async writeStatus(lumigo: LumigoResource, status: LumigoStatus, atRest: boolean): Promise<void> {
    const { uid } = lumigo.metadata;
    const listed = this.#listed.get(uid) ?? [];
    const desired = atRest ? status : { ...status, instrumentedResources: listed };
    if (sameStatus({ ...lumigo.status, instrumentedResources: listed }, desired)) return;
    const { instrumentedResources: list = [], ...rest } = desired;
    const answer = await this.#options.mergeStatus(lumigo, atRest ? { ...rest, instrumentedResources: list } : rest);
    this.#listed.set(uid, list);
    this.#know(answer);
  }

  #know(answer: LumigoResource): void {
    this.#options.lumigoes.upsert(answer);
  }
}
