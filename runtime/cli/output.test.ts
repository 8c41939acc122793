import { expect, it } from '@jest/globals';
import { formatted } from './output.ts';

const token = `t_${'a1'.repeat(10)}f`;

it.each(['table', 'json', 'yaml'] as const)('shows no token as %s, such as one in place of a key', async (format) => {
  const text = await formatted(format, { now: `token from key '${token}'` }, ({ now }) => now);
  expect(text).toContain("token from key 't_…'");
});

it('shows no part of a token in YAML, which breaks a long text', async () => {
  expect(await formatted('yaml', { now: `x: ${'x'.repeat(70)}${token}` }, String)).not.toContain('a1a1');
});

it.each(['table', 'json', 'yaml'] as const)('shows no control sequence as %s, such as one in a key', async (format) => {
  const result = { now: "no key '\u001b[2J\u009b1m\u202e'", ['a\u202e']: 1 };
  const text = await formatted(format, result, ({ now }) => now);
  expect(text).toContain("no key '�[2J�1m�'");
  expect(text).not.toContain('\u202e');
});
