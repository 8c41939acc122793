import { describe, expect, it } from '@jest/globals';
import { ApiError } from './kubernetes/errors.ts';
import { readCredential } from './credential.ts';

const reference = { name: 'credentials', key: 'token' };
const token = `t_${'a1'.repeat(10)}f`;
const holding = (value: string) => () => Promise.resolve({ token: Buffer.from(value).toString('base64') });
const answering = (status: number) => () =>
  Promise.reject(new ApiError({ status, reason: '', message: `status ${status}` }));

describe("a Lumigo's credential", () => {
  it('is in order when the whole value is a token', async () => {
    expect(await readCredential(holding(token), 'shop', reference)).toEqual({ token });
  });

  it.each([
    ['no reference', holding(token), {}, 'SecretReferenceMissing'],
    ['an empty key', holding(token), { name: 'a', key: '' }, 'SecretReferenceMissing'],
    ['no Secret', answering(404), reference, 'SecretNotFound'],
    ['no permission', answering(403), reference, 'SecretForbidden'],
    ['no answer', answering(500), reference, 'SecretUnreadable'],
    ['no key', () => Promise.resolve({ other: 'x' }), reference, 'SecretKeyNotFound'],
    ['another shape', holding('t_123'), reference, 'TokenMalformed'],
    ['D29: more behind it', holding(`${token}0`), reference, 'TokenMalformed'],
    ['D29: something before it', holding(`x${token}`), reference, 'TokenMalformed'],
    ['D29: letters that are not hexadecimal', holding(`t_${'g'.repeat(21)}`), reference, 'TokenMalformed'],
    ['D29: a line break at the end', holding(`${token}\n`), reference, 'TokenMalformed'],
  ])('has a reason of its own for %s', async (_case, read, given, reason) => {
    expect(await readCredential(read, 'shop', given)).toMatchObject({ problem: { reason } });
  });

  it('says that white space is what is wrong, and never shows the value', async () => {
    const { problem } = await readCredential(holding(` ${token}\n`), 'shop', reference);
    expect(problem?.message).toContain('white space');
    expect(problem?.message).not.toContain(token);
    expect((await readCredential(holding('secret-value'), 'shop', reference)).problem?.message).not.toContain(
      'secret-value',
    );
  });

  it('names the Secret and what to do', async () => {
    const { problem } = await readCredential(answering(404), 'shop', reference);
    expect(problem?.message).toBe(
      "Secret 'shop/credentials' does not exist; create it with your Lumigo token under the key 'token'",
    );
  });
});
