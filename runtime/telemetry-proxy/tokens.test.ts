import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { Problem } from '../api/lumigo.ts';
import type { Credential } from '../credentials/credential.ts';
import { stillUnread, TokenCache, toTokenNamespaces } from './tokens.ts';

describe('the start of a replica', () => {
  it.each<[string, readonly string[][], string[]]>([
    ['waits for all Secrets that it begins with', [['a', 'b']], ['a', 'b']],
    ['ends when these are read', [['a', 'b'], ['b'], []], []],
    ['does not wait for a Secret that is named later', [['a'], ['a', 'b'], ['b']], []],
    ['does not wait again for a Secret that was not named meanwhile', [['a', 'b'], ['b'], ['a', 'b']], ['b']],
  ])('%s', (_title, steps, expected) => {
    const start = undefined as ReturnType<typeof stillUnread> | undefined;
    const last = steps.reduce((before, unread) => stillUnread(before, unread, 0), start);
    expect([...(last?.keys() ?? [])]).toEqual(expected);
  });

  it('lasts for an hour at most from its first look, which may follow a long outage', () => {
    const first = stillUnread(undefined, ['a'], 9e9);
    const after = (ms: number) => [...stillUnread(stillUnread(first, ['a'], 9e9 + 5), ['a'], 9e9 + ms).keys()];
    expect([[...first.keys()], after(60 * 60_000 - 1), after(60 * 60_000)]).toEqual([['a'], ['a'], []]);
  });
});

describe('the accepted tokens', () => {
  const HOUR_MS = 60 * 60_000;
  type Step = readonly [now: number, credentials: Iterable<[string, Credential | undefined]>];
  const has = (token: string): Credential => ({ token, version: '1' });
  const lacks = (reason: Problem['reason']): Credential => ({ problem: { reason, message: '' } });
  const at = (now: number, token?: string): Step => [now, [['shop', token ? has(token) : lacks('SecretNotFound')]]];
  const unread = (now: number): Step => [now, [['shop', undefined]]];
  const unreadable = (now: number): Step => [now, [['shop', lacks('SecretUnreadable')]]];
  const unused = (now: number): Step => [now, []];
  const shared: Step = [0, Object.entries({ 1: has('b'), 2: has('a'), 3: has('b') })];

  it.each<[string, readonly Step[], string[]]>([
    ['are those in the Secrets', [at(0, 'a')], ['a']],
    ['are each accepted once, sorted', [shared], ['a', 'b']],
    ['continue for an hour after a replacement', [at(0, 'a'), at(5, 'b'), at(HOUR_MS + 4, 'b')], ['a', 'b']],
    ['end an hour after a replacement', [at(0, 'a'), at(5, 'b'), at(HOUR_MS + 5, 'b')], ['b']],
    [
      'are the last three of those that were replaced within an hour',
      [...'abcde'].map((token, index) => at(index, token)),
      ['b', 'c', 'd', 'e'],
    ],
    ['continue if they are in their Secret again', [at(0, 'a'), at(5, 'b'), at(6, 'a'), at(HOUR_MS + 6, 'a')], ['a']],
    ['end if the Secret has no token any more', [at(0, 'a'), at(5, 'b'), at(6)], []],
    ['do not return with another token', [at(0, 'a'), at(5), at(6, 'b')], ['b']],
    ['end if their source is not used any more', [at(0, 'a'), unused(5)], []],
    ['continue while another Secret is not read yet, and after', [at(0, 'a'), unread(5), at(6, 'b')], ['a', 'b']],
    ['continue while the API server does not answer', [at(0, 'a'), unreadable(5)], ['a']],
  ])('%s', (_what, steps, expected) => {
    const cache = new TokenCache();
    const found = steps.map(([now, credentials]) => cache.acceptsSenders(new Map(credentials), now));
    expect(found.at(-1)).toEqual(expected);
  });
});

const hash = (token: string) => createHash('sha256').update(`LumigoToken ${token}`).digest('hex');
const shared = `t_${'a'.repeat(21)}`;
const own = `t_${'b'.repeat(21)}`;
const accepted = [
  [shared, 'shop'],
  [own, 'bank'],
  [shared, 'cart'],
  [shared, 'shop'],
] as const;

describe('the namespaces of tokens', () => {
  it('are listed by the digest of their token, with a mark if it is the only one', () => {
    const entries = [`${hash(shared)}/shop`, `${hash(shared)}/cart`, `${hash(own)}/bank`, `${hash(own)}=bank`];
    expect(toTokenNamespaces(accepted)).toBe(`;${entries.toSorted().join(';')};`);
  });

  it('are the same text in any order, so that an order causes no reload', () => {
    expect(toTokenNamespaces(accepted.toReversed())).toBe(toTokenNamespaces(accepted));
  });
});
