import { describe, expect, it } from '@jest/globals';
import { AnswerTooLargeError, ApiError } from '../kubernetes/http/errors.ts';
import { credentialIn, credentialWithout, isUnread, toTokenSource } from './credential.ts';

const place = { namespace: 'shop', name: 'credentials', key: 'token' };
const token = `t_${'a1'.repeat(10)}f`;
const holding = (value: string, key = 'token') =>
  credentialIn({ data: { [key]: Buffer.from(value).toString('base64') }, version: '7' }, place);
const answered = (status: number) => credentialWithout(new ApiError({}, { status, subject: 'GET /secret' }), place);

describe("a Lumigo's credential", () => {
  it('is valid if the whole value is a token', () => {
    expect(holding(token)).toEqual({ token, version: '7' });
  });

  it.each([
    ['no Secret', answered(404), 'SecretNotFound'],
    ['no permission', answered(403), 'SecretForbidden'],
    ['no answer', answered(500), 'SecretUnreadable'],
    ['too large an answer', credentialWithout(new AnswerTooLargeError('', 4, ''), place), 'SecretTooLarge'],
    ['no key', holding('x', 'other'), 'SecretKeyNotFound'],
    ['another shape', holding('t_123'), 'TokenMalformed'],
    ['D29: more behind it', holding(`${token}0`), 'TokenMalformed'],
    ['D29: something before it', holding(`x${token}`), 'TokenMalformed'],
    ['D29: letters that are not hexadecimal', holding(`t_${'g'.repeat(21)}`), 'TokenMalformed'],
    ['D29: a line break at the end', holding(`${token}\n`), 'TokenMalformed'],
  ])('has a reason of its own for %s', (_case, credential, reason) => {
    expect(credential).toMatchObject({ problem: { reason } });
    expect(isUnread(credential)).toBe(reason === 'SecretUnreadable');
  });

  it.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
    'is missing under a key that objects inherit: %s',
    (key) => {
      const at = (json: string) =>
        credentialIn({ data: JSON.parse(json) as Record<string, string>, version: '7' }, { ...place, key });
      expect(at('{}')).toMatchObject({ version: '7', problem: { reason: 'SecretKeyNotFound' } });
      expect(at(`{"${key}":"${Buffer.from(token).toString('base64')}"}`)).toEqual({ token, version: '7' });
    },
  );

  it('says that white space is the problem, and never shows the value', () => {
    const { problem } = holding(` ${token}\n`);
    expect(problem?.message).toContain('white space');
    expect(problem?.message).not.toContain(token);
    expect(holding('secret-value').problem?.message).not.toContain('secret-value');
  });

  it('names the Secret and what to do', () => {
    expect(answered(404).problem?.message).toBe(
      "Secret 'shop/credentials' does not exist; create it, with your Lumigo token under the key 'token'",
    );
  });

  it('names the version of its Secret, if there is one, when it is invalid', () => {
    expect(holding('t_123').version).toBe('7');
    expect(answered(404).version).toBeUndefined();
  });

  it('is found by a Lumigo, with the version of the Secret that the leader announced', () => {
    const spec = { lumigoToken: { secretRef: { name: 'credentials', key: 'token' } } };
    const source = toTokenSource({ metadata: { namespace: 'shop' }, spec, status: { secretVersion: '7' } } as never);
    expect(source).toMatchObject({ ...place, announced: '7' });
  });
});
