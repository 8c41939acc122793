import { expect, it } from '@jest/globals';
import { annotations, workloadKinds } from '../contract.ts';
import { judgedBefore } from './observations.ts';
import { observeWorkload } from './workload-store.ts';

const text = 'added 2026-11-20T10:00:00.000Z by webhook; secret=lumigo-credentials/token traces=true logs=false';
const NOW = Date.parse('2026-11-20T10:20:00Z');

it.each([
  ['an old Job', workloadKinds.job, text, NOW + 3_600_000, { judged: text }],
  ['a recent Job, because its pods may show how the injector fares', workloadKinds.job, text, NOW, {}],
  ['an old Deployment, because it can change', workloadKinds.deployment, text, NOW + 3_600_000, {}],
] as const)('a new leader decides if it reads the injection of %s', (_what, kind, status, now, expected) => {
  const own = { [annotations.instrumentation]: status };
  const workload = observeWorkload(kind, { namespace: 'shop', name: 'a', annotations: own });
  expect(judgedBefore(workload, now)).toEqual(expected);
});
