import { expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { toTokenNamespaces } from './token-namespaces.ts';

const hash = (token: string) => createHash('sha256').update(`LumigoToken ${token}`).digest('hex');
const shared = `t_${'a'.repeat(21)}`;
const own = `t_${'b'.repeat(21)}`;
const accepted = [
  [shared, 'shop'],
  [own, 'bank'],
  [shared, 'cart'],
  [shared, 'shop'],
] as const;

it('lists the namespaces of the digest of each token, and says which token has only one', () => {
  const entries = [`${hash(shared)}/shop`, `${hash(shared)}/cart`, `${hash(own)}/bank`, `${hash(own)}=bank`];
  expect(toTokenNamespaces(accepted)).toBe(`;${entries.toSorted().join(';')};`);
});

it('is the same in any order, so that an order causes no reload', () => {
  expect(toTokenNamespaces(accepted.toReversed())).toBe(toTokenNamespaces(accepted));
});
