import { expect, it, jest } from '@jest/globals';
import { createLogger } from './logging.ts';

const token = `t_${'a1'.repeat(10)}f`;

it('writes no token, also not one in place of a name', () => {
  // pino writes to a replaced function instead of the file descriptor.
  const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  createLogger('warn').warn({ secret: token, problem: `GET /secrets/${token}`, token }, 'Secret not read');
  const lines = write.mock.calls.map(([line]) => String(line));
  write.mockRestore();
  expect(JSON.parse(lines.join(''))).toMatchObject({
    level: 'warn',
    secret: 't_…',
    problem: 'GET /secrets/t_…',
    token: '[cut]',
    msg: 'Secret not read',
  });
});
