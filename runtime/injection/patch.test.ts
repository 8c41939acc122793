import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { workloadKinds } from '../contract.ts';
import { workloadPatch } from './patch.ts';
import { applyStrictly } from '../../sandbox/testing/apply-patch.ts';
import type { Workload } from '../api/objects.ts';

/** Few keys and values make two documents have much in common. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, 0, 1, '', 'a'),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'a/b', '~', '~1', '', '0', '-', 'constructor'), tie('json'), {
      maxKeys: 4,
    }),
  ),
}));

const holding = (field: unknown): Workload => {
  const { apiVersion, kind } = workloadKinds.deployment;
  const template = { spec: { containers: [], field } };
  return { apiVersion, kind, metadata: { name: 'app', namespace: 'shop' }, spec: { template, other: 'x' } };
};
const getPatch = (before: unknown, after: unknown) => workloadPatch(holding(before), holding(after));

describe('the patch', () => {
  it('turns any JSON into any other', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(applyStrictly(holding(before), getPatch(before, after))).toEqual(holding(after));
      }),
      { numRuns: 3_000 },
    );
  });

  it('is empty for equal documents, whatever the order of keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(getPatch(value, JSON.parse(JSON.stringify(value)))).toEqual([]);
        expect(getPatch(value, reversed(value))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('has one operation for an appended and an inserted entry, and none for their neighbours', () => {
    const place = '/spec/template/spec/field';
    expect(getPatch([1, 2], [1, 2, 3])).toEqual([{ op: 'add', path: `${place}/-`, value: 3 }]);
    expect(getPatch([1], [1, 1])).toEqual([{ op: 'add', path: `${place}/-`, value: 1 }]);
    expect(getPatch([1, 2], [3, 1, 2])).toEqual([{ op: 'add', path: `${place}/0`, value: 3 }]);
    expect(getPatch([1, 2, 3], [1, 3])).toEqual([{ op: 'remove', path: `${place}/1` }]);
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, each]) => [key, reversed(each)]),
  );
}
