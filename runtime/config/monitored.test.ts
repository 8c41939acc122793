import { describe, expect, it } from '@jest/globals';
import { parseMonitored } from './monitored.ts';

describe('F54: parseMonitored', () => {
  it.each(['{}', '[{}]', '[{"namespace":"shop","selector":{}}]', '[null]', 'all'])('refuses %s', (text) => {
    expect(() => parseMonitored(text)).toThrow();
  });
});
