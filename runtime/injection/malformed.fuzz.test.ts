import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { damaged } from '../../sandbox/testing/arbitrary/damage.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { fuzz, fuzzTimeoutMs } from '../../sandbox/testing/fuzz.ts';
import { active, decided, injected, made } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import { redactWorkload } from '../diagnostics/redact.ts';
import { getCompletion } from '../rollout/completion.ts';
import { workloadPatch } from './patch.ts';
import { hasInjection, isUnremovable, uninstrument } from './remove.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from './types.ts';

const templates = fc.tuple(podTemplate(), fc.boolean()).map(([each, is]) => (is ? (injected(each) ?? each) : each));
const policies = fc.constantFrom<NamespacePolicy>(
  active,
  { kind: 'none' },
  { kind: 'disabled', lumigo: 'l', remove: true },
);

/** An open definition stores what another one refuses, so a Rollout can have any pod template. */
const rollouts = damaged(templates).map((template): Workload => {
  const rollout = made({}, workloadKinds.rollout);
  return JSON.parse(JSON.stringify({ ...rollout, spec: { ...(rollout['spec'] as object), template } })) as Workload;
});

it(
  'decides about a Rollout with any pod template, and removes an injection or says that it cannot',
  () => {
    const property = fc.property(rollouts, policies, (rollout, policy) => {
      const decision = decided(rollout, { policy });
      expect(decision.message).toMatch(/\w+ \w+/);
      if (decision.kind !== 'none') workloadPatch(rollout, decision.workload);
      expect([redactWorkload(rollout), getCompletion(rollout)]).toHaveLength(2);
      const clean = uninstrument(rollout);
      expect(hasInjection(clean)).toBe(false);
      expect(isUnremovable(clean)).toBe(isUnremovable(rollout));
    });
    fc.assert(property, fuzz);
  },
  fuzzTimeoutMs,
);
