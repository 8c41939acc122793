import { expect, it } from '@jest/globals';
import { Kept } from './kept.ts';

const object = (uid: string, label?: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'shop', name: `pod-${uid}`, uid, resourceVersion: '1', labels: label ? { label } : {} },
});

it('a list-watch keeps objects with a kept part, and reports every change of that part', () => {
  const told: unknown[] = [];
  const kept = new Kept(
    ({ metadata }) => metadata.labels?.['label'],
    (...change) => told.push(change),
  );
  kept.upsert(object('a', 'one'));
  kept.upsert(object('b'));
  kept.upsert(object('a', 'two'));
  expect(kept.values()).toEqual(['two']);
  expect([...kept.known()]).toMatchObject([{ namespace: 'shop', name: 'pod-a', uid: 'a' }]);
  kept.upsert(object('a'));
  kept.upsert(object('b', 'three'));
  kept.delete({ uid: 'another of that name' });
  kept.delete({ uid: 'b' });
  expect([...kept.known()]).toEqual([]);
  expect(told).toEqual([
    ['one', undefined],
    ['two', 'one'],
    [undefined, 'two'],
    ['three', undefined],
    [undefined, 'three'],
  ]);
});
