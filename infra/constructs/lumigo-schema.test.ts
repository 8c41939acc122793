import { expect, it } from '@jest/globals';
import { noTelemetry } from '../../runtime/reconciler/plan-telemetry.ts';
import { noRollout } from '../../runtime/reconciler/plan-rollout.ts';
import { noProgress } from '../../runtime/reconciler/plan-workloads.ts';
import { getStatus } from '../../runtime/reconciler/conditions.ts';
import { lumigoSchema } from './lumigo-schema.ts';

const problem = { reason: 'TokenRefused', message: 'message' } as const;
const duplicate = { reason: 'DuplicateLumigo', message: 'message' } as const;

it('describes each condition type that the operator writes, and no other [F82]', () => {
  const input = {
    metadata: {},
    needed: ['PodPolicyInstalled'],
    progress: { ...noProgress, elsewhere: 1 },
    summary: { ...noRollout, left: 1 },
    received: { ...noTelemetry, received: 1 },
    report: undefined,
    instrumented: [],
    secretVersion: undefined,
    webhook: { reachable: false, ...problem },
    telemetry: problem,
    now: '2026-11-20T10:00:00Z',
  } as const;
  const written = [
    getStatus({ ...input, problem: undefined, token: { accepted: problem }, podPolicy: problem }, undefined),
    getStatus({ ...input, problem: undefined, token: {}, podPolicy: undefined }, undefined),
    getStatus({ ...input, problem: duplicate, token: {}, podPolicy: undefined }, undefined),
  ];
  const types = new Set(written.flatMap(({ conditions = [] }) => conditions.map(({ type }) => type)));
  const { status } = lumigoSchema['properties'] as { status: { properties: { conditions: { description: string } } } };
  const described = status.properties.conditions.description.matchAll(/(\w+): /g);
  expect([...described].map(([, type]) => type).toSorted()).toEqual([...types].toSorted());
});
