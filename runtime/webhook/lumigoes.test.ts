import { expect, it } from '@jest/globals';
import type { LumigoResource } from '../api/lumigo.ts';
import type { Workload } from '../api/objects.ts';
import { reviewLumigo } from './lumigoes.ts';

const lumigo = (name: string, deletionTimestamp?: string) =>
  ({ metadata: { name, deletionTimestamp } }) as LumigoResource;
const object = { metadata: { name: 'new' } } as Workload;
const going = lumigo('going', '2026-01-01T00:00:00Z');

it.each([
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
])('a new Lumigo is %s', (_how, there, answer) => {
  const request = { uid: 'u', namespace: 'shop', operation: 'CREATE', object };
  expect(reviewLumigo(request, { in: () => there, isExcluded: () => false })).toMatchObject(answer);
});
