import { expect, it } from '@jest/globals';
import type { LumigoResource } from '../api/lumigo.ts';
import type { Workload } from '../api/objects.ts';
import { reviewLumigo } from './lumigoes.ts';

const lumigo = (name: string, deletionTimestamp?: string) =>
  ({ metadata: { name, deletionTimestamp } }) as LumigoResource;
const object = { metadata: { name: 'new' } } as Workload;
const going = lumigo('going', '2026-01-01T00:00:00Z');

it.each<[string, readonly LumigoResource[], object, number?]>([
  ['allowed alone', [], { code: 200, warnings: [] }],
  [
    'allowed beside one in deletion, with a warning',
    [going],
    { code: 200, warnings: [expect.stringContaining("'going' is still being deleted")] },
  ],
  [
    'refused beside another',
    [going, lumigo('stays')],
    { code: 409, message: expect.stringContaining("'shop' namespace: 'stays'") },
  ],
  ['left to the API server if its name exists', [lumigo('stays'), lumigo('new')], { code: 200, warnings: [] }],
  ['allowed beside nine that finalizers of others keep', [], { code: 200, warnings: [] }, 9],
  [
    'refused beside ten that finalizers keep [F66]',
    [going],
    { code: 409, message: expect.stringContaining("The 'shop' namespace still has 10 Lumigo resources") },
    10,
  ],
])('a new Lumigo is %s', (_how, there, answer, count = there.length) => {
  const request = { uid: 'u', namespace: 'shop', operation: 'CREATE', object };
  for (const isExcluded of count === there.length ? [false] : [false, true]) {
    const lumigoes = { in: () => there, count: () => count, isExcluded: () => isExcluded };
    expect(reviewLumigo(request, lumigoes)).toMatchObject(count < 10 && isExcluded ? { code: 200 } : answer);
  }
});
