import { describe, expect, it } from '@jest/globals';
import { ApiError } from '../kubernetes/errors.ts';
import { checkCredential } from './credential.ts';

const spec = { lumigoToken: { secretRef: { name: 'credentials', key: 'token' } } };
const token = `t_${'a1'.repeat(10)}f`;
const holding = (value: string) => () => Promise.resolve({ token: Buffer.from(value).toString('base64') });
const answering = (status: number) => () =>
  Promise.reject(new ApiError({ status, reason: '', message: `status ${status}` }));

describe("a Lumigo's credential", () => {
  it('is in order when the whole value is a token', async () => {
    expect(await checkCredential(holding(token), 'shop', spec)).toBeUndefined();
  });

  it.each([
    ['no reference', holding(token), {}, 'SecretReferenceMissing'],
    ['an empty key', holding(token), { lumigoToken: { secretRef: { name: 'a', key: '' } } }, 'SecretReferenceMissing'],
    ['no Secret', answering(404), spec, 'SecretNotFound'],
    ['no permission', answering(403), spec, 'SecretForbidden'],
    ['no answer', answering(500), spec, 'SecretUnreadable'],
    ['no key', () => Promise.resolve({ other: 'x' }), spec, 'SecretKeyNotFound'],
    ['another shape', holding('t_123'), spec, 'TokenMalformed'],
    ['D29: more behind it', holding(`${token}0`), spec, 'TokenMalformed'],
    ['D29: something before it', holding(`x${token}`), spec, 'TokenMalformed'],
    ['D29: letters that are not hexadecimal', holding(`t_${'g'.repeat(21)}`), spec, 'TokenMalformed'],
    ['D29: a line break at the end', holding(`${token}\n`), spec, 'TokenMalformed'],
  ])('has a reason of its own for %s', async (_case, read, lumigoSpec, reason) => {
    expect(await checkCredential(read, 'shop', lumigoSpec)).toMatchObject({ reason });
  });

  it('says that white space is what is wrong, and never shows the value', async () => {
    const problem = await checkCredential(holding(` ${token}\n`), 'shop', spec);
    expect(problem?.message).toContain('white space');
    expect(problem?.message).not.toContain(token);
    expect((await checkCredential(holding('secret-value'), 'shop', spec))?.message).not.toContain('secret-value');
  });

  it('names the Secret and what to do', async () => {
    const problem = await checkCredential(answering(404), 'shop', spec);
    expect(problem?.message).toBe(
      "Secret 'shop/credentials' does not exist; create it with your Lumigo token under the key 'token'",
    );
  });
});
