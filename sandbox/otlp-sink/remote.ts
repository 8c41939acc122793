import { collectedObject, controlPath, type CollectedObject, type Received } from './sink.ts';

const ANSWER_MS = 10_000;

export class RemoteSink {
  readonly #received: Received[] = [];

  constructor(readonly url: string) {}

  async received(): Promise<readonly Received[]> {
    const from = this.#received.length;
    const since = `${this.url}${controlPath}received?since=${from}`;
    const answer = await fetch(since, { signal: AbortSignal.timeout(ANSWER_MS) });
    const items = (await answer.json()) as Received[];
    // A concurrent call may have added some of them meanwhile.
    this.#received.push(...items.slice(this.#received.length - from));
    return this.#received;
  }

  async objects(): Promise<readonly CollectedObject[]> {
    return (await this.received()).flatMap(collectedObject);
  }

  async spans(): Promise<readonly Received[]> {
    return (await this.received()).filter(({ signal }) => signal === 'traces');
  }
}
