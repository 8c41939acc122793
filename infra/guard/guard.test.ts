import { describe, expect, it } from '@jest/globals';
import { permissions, type Permission } from '../../runtime/access/permissions.ts';
import { synthesize } from '../operator.ts';
import { parseSettings } from '../settings/settings.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly operations: readonly string[];
}

const getGuard = (settings: object) =>
  synthesize(parseSettings(settings)).filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy'));

const rules = getGuard({}).flatMap(({ spec }) => {
  const { matchConstraints } = spec as { matchConstraints?: { resourceRules: readonly Rule[] } };
  return matchConstraints?.resourceRules ?? [];
});

/** No policy limits these writes. docs/security/README.md describes what an attacker can do with them. */
const unlimited: Readonly<Record<string, string>> = {
  'lumigoes/status': 'a subresource, by which nothing else changes',
  events: 'the API server gets too many of them to look at each for the account',
  tokenreviews: 'nothing is stored',
  subjectaccessreviews: 'nothing is stored',
  'clusterroles/finalizers': 'a right for owner references, by which nothing is written',
  'clusterrolebindings/finalizers': 'the same',
};

const getOperation: Readonly<Record<string, string>> = { create: 'CREATE', update: 'UPDATE', patch: 'UPDATE' };

const managers: readonly Permission[] = Object.entries(permissions)
  .filter(([group]) => group !== 'telemetryProxy')
  .flatMap(([, granted]) => granted);

describe('the guard', () => {
  it('limits every write that RBAC grants to the manager, except a few', () => {
    const open = managers.flatMap(({ apiGroups, resources, verbs }) =>
      resources.flatMap((resource) =>
        verbs
          .flatMap((verb) => getOperation[verb] ?? [])
          .filter((operation) => {
            const isMet = ({ apiGroups: groups, resources: plurals, operations }: Rule) =>
              groups.some((group) => apiGroups.includes(group)) &&
              plurals.includes(resource) &&
              operations.includes(operation);
            return !rules.some(isMet) && !(resource in unlimited);
          })
          .map((operation) => `${operation} ${resource}`),
      ),
    );
    expect(open).toEqual([]);
  });

  it('denies by default, audits or is absent as the settings say', () => {
    const actions = (guard: string) =>
      getGuard({ guard }).flatMap(({ spec }) => (spec as { validationActions?: string[] }).validationActions ?? []);
    expect(new Set(actions('Deny'))).toEqual(new Set(['Deny']));
    expect(new Set(actions('Audit'))).toEqual(new Set(['Audit']));
    expect(getGuard({ guard: 'None' })).toEqual([]);
  });
});
