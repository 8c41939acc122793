import { expect, it } from '@jest/globals';
import type { Metadata } from '../api/objects.ts';
import { annotations, labels } from '../contract.ts';
import { add, isSkipped, tally } from './pod-counts.ts';

it.each<[string, Metadata, boolean]>([
  ['counts a pod', {}, false],
  ['skips a pod that is being deleted', { deletionTimestamp: '2026-11-20T10:00:00Z' }, true],
  ['skips a mirror pod, which the API server cannot inject', { annotations: { [annotations.mirror]: 'x' } }, true],
  ['skips a pod whose user opted out', { labels: { [labels.autoTrace]: 'False' } }, true],
])('%s', (_title, metadata, expected) => expect(isSkipped(metadata)).toBe(expected));

it('counts pods by their controller, and each pod without a valid one alone', () => {
  const ownedBy = (uid: string, controller = true) => ({
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid, controller }],
  });
  const pods: Metadata[] = [
    { name: 'a', uid: '1', ...ownedBy('r') },
    { name: 'b', uid: '2', ...ownedBy('r') },
    { name: 'c', uid: '3', ...ownedBy('r', false) },
    { name: 'd', uid: '4', ...ownedBy('x'.repeat(37)) },
    { name: 'e', uid: '5' },
  ];
  const open = new Map();
  for (const pod of pods) add(open, pod);
  const alone = ['c', 'd', 'e'].map((name, index) => [`${index + 3}`, { name, uid: `${index + 3}`, count: 1 }]);
  expect([...open]).toEqual([['r', { name: 'a', uid: '1', count: 2 }], ...alone]);
});

it.each([
  ['all of 10,000 pods', 10_000, { injected: 10_000, isPartial: false }],
  ['a part of more pods, and reads no further page', 20_000, { injected: 10_500, isPartial: true }],
])('counts %s', async (_title, count, expected) => {
  const items = Array.from({ length: 500 }, () => ({ metadata: { annotations: { [annotations.injection]: 'x' } } }));
  async function* pages() {
    for (let sent = 0; sent < count; sent += items.length) yield { items };
  }
  expect(await tally(pages())).toMatchObject(expected);
});
