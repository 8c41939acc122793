import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { ApiError } from '../kubernetes/http/errors.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { EventRecorder } from './event-recorder.ts';
import { LumigoWriter } from './lumigo-writer.ts';
import type { LumigoAction } from './plan-status.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

const lumigo: LumigoResource = {
  ...{ apiVersion: contract.apiVersion, kind: contract.kind },
  metadata: { namespace: 'shop', name: 'lumigo', uid: 'l', resourceVersion: '1', finalizers: [contract.finalizer] },
};
const notFound = new ApiError({ status: 404, reason: 'NotFound', message: 'not found' });
const write: LumigoAction = { kind: 'write-status', lumigo, status: {}, withList: true, repeats: 0 };

/** `answer` ends the request for a status. */
function writerOver() {
  const lumigoes = new LumigoStore([]);
  lumigoes.upsert(lumigo);
  let answer: (answer: LumigoResource | Promise<never>) => void = () => undefined;
  const term = {
    api: { mergeStatus: () => new Promise<LumigoResource>((resolve) => (answer = resolve)) },
    ...{ lumigoes, events: { add: () => undefined }, enqueue: () => undefined },
    ...{ logger: pino({ enabled: false }), signal: new AbortController().signal },
  };
  const writer = new LumigoWriter(term as unknown as ReconcilerContext, {} as EventRecorder);
  const see = () => writer.observe('shop', lumigoes.in('shop'));
  const answered = async (result: LumigoResource | Promise<never>) => {
    answer(result);
    await turn();
  };
  return { lumigoes, see, begin: () => writer.begin([write], see()), answered };
}

describe('the state of a Lumigo that the operator writes to', () => {
  it('is kept while the Lumigo exists', async () => {
    const { see, begin, answered } = writerOver();
    begin();
    expect(see()).toMatchObject([{ isBusy: true, listed: undefined }]);
    await answered({ ...lumigo, metadata: { ...lumigo.metadata, resourceVersion: '2' } });
    expect(see()).toMatchObject([{ isBusy: false, listed: [], lastStatus: {} }]);
  });

  it('is forgotten when the Lumigo no longer exists, also if its finalizer was removed by a user', async () => {
    const { lumigoes, see, begin, answered } = writerOver();
    begin();
    await answered({ ...lumigo, metadata: { ...lumigo.metadata, resourceVersion: '2' } });
    lumigoes.delete('shop', 'l');
    expect(see()).toEqual([]);
    lumigoes.upsert(lumigo);
    expect(see()).toMatchObject([{ listed: undefined, statusAt: -Infinity }]);
  });

  it('does not return with the answer to a request that a deletion overtook', async () => {
    const { lumigoes, see, begin, answered } = writerOver();
    begin();
    lumigoes.delete('shop', 'l');
    see();
    await answered(Promise.reject(notFound));
    lumigoes.upsert(lumigo);
    expect(see()).toMatchObject([{ isBusy: false, failure: undefined }]);
  });

  it('brings no deleted Lumigo back into the store', async () => {
    const { lumigoes, begin, answered } = writerOver();
    begin();
    lumigoes.delete('shop', 'l');
    await answered({ ...lumigo, metadata: { ...lumigo.metadata, resourceVersion: '2' } });
    expect(lumigoes.in('shop')).toEqual([]);
  });
});
