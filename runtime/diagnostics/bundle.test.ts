import { expect, it } from '@jest/globals';
import { bounds } from '../kubernetes/http/byte-budget.ts';
import { LOG } from './bundle.ts';

it('a report cuts a log before the client refuses it', () => {
  expect(LOG.limitBytes).toBeLessThan(bounds.answerBytes);
});
