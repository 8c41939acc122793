import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { haltOf, inOrder, nextTurns, wavesOf, type Standing, type Waiting } from './turns.ts';

const shape = (running: number) => ({ desired: running, running, blocked: undefined, refused: undefined });
const waiting = (kind: string, name: string, running: number): Waiting => ({ kind, name, shape: shape(running) });
const many = (count: number): Waiting[] =>
  Array.from({ length: count }, (_, index) => waiting('Deployment', `app-${String(index).padStart(4, '0')}`, 2));
const calm: Standing = { proven: 0, underWay: 0, reverted: 0, injectorFails: false, revertedInCluster: 0 };
const turns = (count: number, standing: Partial<Standing>) =>
  nextTurns(many(count), { ...calm, ...standing }, 50).length;

describe('whose turn it is', () => {
  it.each([
    ['one is the first', {}, 1],
    ['twice as many as are proven follow', { proven: 3 }, 6],
    ['at most the largest wave follows', { proven: 99 }, 50],
    ['nobody while others are under way', { proven: 3, underWay: 1 }, 0],
    ['others after one was reverted', { reverted: 1 }, 1],
    ['nobody after two', { proven: 9, reverted: 2 }, 0],
    ['nobody where the injector itself fails', { reverted: 1, injectorFails: true }, 0],
    ['none after five reverts in the cluster', { revertedInCluster: 5 }, 0],
  ] as const)('%s', (_title, standing, expected) => expect(turns(100, standing)).toBe(expected));

  it('is what risks least first: a Deployment, of two pods or more, of few', () => {
    const seen = [
      ...[waiting('StatefulSet', 's', 2), waiting('Deployment', 'one', 1), waiting('Deployment', 'big', 9)],
      ...[waiting('DaemonSet', 'd', 3), waiting('Deployment', 'b', 2), waiting('Deployment', 'a', 2)],
    ];
    expect(inOrder(seen).map(({ name }) => name)).toEqual(['a', 'b', 'big', 'one', 'd', 's']);
  });

  it('comes for everybody in few waves', () => {
    expect(wavesOf(10, 50)).toEqual([1, 2, 6, 1]);
    expect(wavesOf(100, 50)).toEqual([1, 2, 6, 18, 50, 23]);
    expect(wavesOf(1_000, 50)).toHaveLength(24);
    fc.assert(
      fc.property(fc.nat(2_000), fc.integer({ min: 1, max: 100 }), (count, largest) => {
        const waves = wavesOf(count, largest);
        expect(waves.reduce((sum, each) => sum + each, 0)).toBe(count);
        expect(Math.max(0, ...waves)).toBeLessThanOrEqual(largest);
      }),
    );
  });

  it('says why a namespace halts', () => {
    expect(haltOf({ ...calm, reverted: 2 })).toBe('2 workloads of the namespace were reverted');
    expect(haltOf(calm)).toBeUndefined();
  });
});
