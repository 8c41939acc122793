import { expect, it } from '@jest/globals';
import { noRollout } from '../../runtime/reconciler/plan-rollout.ts';
import { getStatus } from '../../runtime/reconciler/conditions.ts';
import { lumigoSchema } from './lumigo-schema.ts';

const problem = { reason: 'Reason', message: 'message' };

it('describes each condition type that the operator writes, and no other [F82]', () => {
  const { conditions = [] } = getStatus(
    {
      metadata: {},
      problem,
      progress: { pending: 0, failed: 0, contested: 0, instrumented: 0, elsewhere: 1, tooLarge: 0, older: 0 },
      summary: { ...noRollout, left: 1 },
      report: undefined,
      instrumented: [],
      secretVersion: undefined,
      webhook: { reachable: false, ...problem },
      telemetry: problem,
      token: { accepted: problem },
      now: '2026-11-20T10:00:00Z',
    },
    undefined,
  );
  const { status } = lumigoSchema['properties'] as { status: { properties: { conditions: { description: string } } } };
  const described = status.properties.conditions.description.matchAll(/(\w+): /g);
  expect(conditions).toHaveLength(7);
  expect([...described].map(([, type]) => type).toSorted()).toEqual(conditions.map(({ type }) => type).toSorted());
});
