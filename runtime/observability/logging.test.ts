import { expect, it, jest } from '@jest/globals';
import { createLogger } from './logging.ts';

const token = `t_${'a1'.repeat(10)}f`;

function written(fields: object): string {
  // pino writes to a replaced function instead of the file descriptor.
  const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  createLogger('warn').warn(fields, 'Secret not read');
  const lines = write.mock.calls.map(([line]) => String(line));
  write.mockRestore();
  return lines.join('');
}

it('writes no token, also not one in place of a name', () => {
  expect(JSON.parse(written({ secret: token, problem: `GET /secrets/${token}`, token }))).toMatchObject({
    level: 'warn',
    secret: 't_…',
    problem: 'GET /secrets/t_…',
    token: '[cut]',
    msg: 'Secret not read',
  });
});

it('writes one line without controls of a terminal or of the direction, which a client sent', () => {
  const uid = 'a\u001b[31m\u007f\u009b2J\u202eb\u2066\u2028\ud83d\t\nc';
  const line = written({ uid, workload: 'größer 🚀' });
  expect(line).toMatch(/^[^\p{Cc}\p{Bidi_Control}\u2028]+\n$/u);
  expect(JSON.parse(line)).toMatchObject({ uid: expect.stringMatching(/^a.*c$/s), workload: 'größer 🚀' });
});
