import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { Counter } from 'prom-client';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { ApiError } from '../http/errors.ts';
import { EventQueue, type QueuedEvent } from './event-queue.ts';

const refusal = new ApiError({ reason: 'Forbidden' }, { status: 403, subject: 'POST /api/v1/events' });

const counter = (name: string) => new Counter({ name, help: name, labelNames: ['reason'], registers: [] });

const event = (namespace: string, uid: string, key: string): QueuedEvent => ({
  key,
  reason: 'LumigoAddedInstrumentation' as const,
  message: '',
  regarding: { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: uid, uid, resourceVersion: '1' },
});

/** The API server refuses posts of the namespace `refuses`. */
function toQueue({ refuses = '' }: { refuses?: string } = {}) {
  const posted: string[] = [];
  const drained: string[] = [];
  const under = { way: 0, most: 0 };
  const dropped = counter('dropped');
  const queue = new EventQueue({
    logger: pino({ enabled: false }),
    metrics: { events: counter('posted'), eventsDropped: dropped },
    onDrained: (namespace) => drained.push(namespace),
  });
  const add = (namespace: string, uid: string, key: string) => queue.add(event(namespace, uid, key));
  const post = async ({ regarding: { namespace, uid }, key }: QueuedEvent): Promise<void> => {
    under.way += 1;
    under.most = Math.max(under.most, under.way);
    await turn();
    under.way -= 1;
    if (namespace === refuses) throw refusal;
    posted.push(`${uid}/${key}`);
  };
  /** Begins a term. Returns how to end it. */
  const run = (via = post) => {
    const end = new AbortController();
    const running = queue.run(end.signal, via);
    return async (): Promise<void> => {
      end.abort();
      await running;
    };
  };
  return { queue, add, post, run, posted, drained, dropped, under };
}

async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; turns < 1_000 && !condition(); turns += 1) await turn();
  expect(condition()).toBe(true);
}

describe('the queue of events', () => {
  it('posts in order for each object, and eight events at once', async () => {
    const { add, run, posted, under } = toQueue();
    for (let other = 0; other < 20; other += 1) add('shop', `o${other}`, '0');
    for (let key = 0; key < 5; key += 1) for (const uid of ['a', 'b', 'c', 'd', 'e', 'f']) add('shop', uid, `${key}`);
    const end = run();
    await until(() => posted.length === 50);
    for (const uid of ['a', 'f'])
      expect(posted.filter((each) => each.startsWith(uid))).toEqual([0, 1, 2, 3, 4].map((key) => `${uid}/${key}`));
    expect(under.most).toBe(8);
    await end();
  });

  it('posts the events of other namespaces while one refuses them, which no caller awaits [F7]', async () => {
    const { queue, add, run, posted, drained } = toQueue({ refuses: 'closed' });
    for (let index = 0; index < 20; index += 1) add('closed', `x${index}`, '1');
    for (let index = 0; index < 20; index += 1) add('open', `y${index}`, '1');
    const end = run();
    await until(() => posted.length === 20);
    expect(drained.sort()).toEqual(['closed', 'open']);
    expect([queue.pending('open'), queue.pending('closed')]).toEqual([0, 0]);
    expect(queue.isPending('closed', 'x19')).toBe(false);
    let hasEnded = false;
    void end().then(() => (hasEnded = true));
    await until(() => hasEnded);
  });

  it('drops events beyond 20,000 that wait', async () => {
    const { queue, add, dropped } = toQueue();
    for (let index = 0; index < 20_010; index += 1) add('shop', `o${index}`, '1');
    expect(queue.pending('shop')).toBe(20_000);
    expect((await dropped.get()).values).toMatchObject([{ value: 10 }]);
  });

  it.each([
    ['namespace although forged ones fill the queue', 'forged', 20_000, [19_920]],
    ['object although eight objects of its namespace have many', 'shop', 80, []],
  ])('posts an event of another %s soon', async (_title, namespace, count, expected) => {
    const { queue, add, run, posted, dropped } = toQueue();
    for (let key = 0; key < count; key += 1) add(namespace, `x${key % 8}`, `${key}`);
    add('shop', 'a', '1');
    expect(queue.isPending('shop', 'a')).toBe(true);
    expect((await dropped.get()).values.map(({ value }) => value)).toEqual(expected);
    const end = run();
    await until(() => posted.length === 81);
    expect(posted.indexOf('a/1')).toBeLessThan(17);
    await end();
  });

  it('posts no event between two terms, and the queued ones in the next term [F2]', async () => {
    const { queue, add, run, posted, drained } = toQueue();
    add('shop', 'a', '1');
    await turn();
    expect(posted).toEqual([]);
    expect(queue.isPending('shop', 'a')).toBe(true);
    const end = run();
    await until(() => drained.includes('shop'));
    expect(posted).toEqual(['a/1']);
    expect(queue.isPending('shop', 'a')).toBe(false);
    await end();
  });

  it('drops events after six refusals in a row, not after one of a restarted API server', async () => {
    const restart = [...Array.from({ length: 5 }, () => new Error('the connection broke')), refusal];
    const drops = [Array.from({ length: 6 }, () => refusal), restart].map(async (answers) => {
      const { add, run, dropped } = toQueue();
      const end = run(() => Promise.reject(answers.shift() ?? refusal));
      add('shop', 'a', '1');
      // Five pauses, of which the last is the longest.
      await eventually(() => expect(answers).toEqual([]), { timeoutMs: 60_000 });
      await turn();
      await end();
      return (await dropped.get()).values.map(({ value }) => value);
    });
    expect(await Promise.all(drops)).toEqual([[1], []]);
  });

  it('retries although timers run up to a millisecond early', async () => {
    const queues = Array.from({ length: 30 }, () => toQueue());
    const ends = queues.map(({ run, add, post }) => {
      let failed = false;
      const end = run(async (event) => {
        if (failed) return post(event);
        failed = true;
        throw new Error('the connection broke');
      });
      add('shop', 'a', '1');
      return end;
    });
    await eventually(() => expect(queues.flatMap(({ posted }) => posted)).toHaveLength(queues.length));
    for (const end of ends) await end();
  });
});
