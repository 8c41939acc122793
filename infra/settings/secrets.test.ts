import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { misplaced, tracesIn, type Misplaced } from '../../sandbox/testing/arbitrary/misplaced-tokens.ts';
import { LumigoOperator } from '../pulumi/component.ts';
import { loadSettings } from './settings.ts';
import { validToken } from '../../sandbox/testing/test-cluster.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

const folder = createTemporaryFolder();

function getMessage(action: () => unknown): string {
  try {
    action();
    return '';
  } catch (error) {
    return String(error);
  }
}

/** Counts the refused cases, so that a property cannot pass without one. */
function everyMessage(messageFor: (each: Misplaced) => string): number {
  let refused = 0;
  fc.assert(
    fc.property(misplaced, (each) => {
      const message = messageFor(each);
      expect([message, tracesIn(message, each.token)]).toEqual([message, []]);
      if (message !== '') refused += 1;
    }),
    { numRuns: 150 },
  );
  return refused;
}

describe('a token that is rejected', () => {
  it('is in no message about a settings file, whatever its shape and place [F77]', () => {
    const file = join(folder, 'settings.yaml');
    const refused = everyMessage(({ settings }) => {
      writeFileSync(file, stringify(settings));
      return getMessage(() => loadSettings(file));
    });
    expect(refused).toBeGreaterThan(90);
  });

  it.each([
    'lumigoToken:\n  value: "@\n',
    'lumigoToken:\n  value: "a" @\n',
    'lumigoToken:\n  @: 1\n  @: 2\n',
    'lumigoToken:\n  value: *@\n',
    'lumigoToken:\n  value: !@ x\n',
    'lumigoToken:\n\tvalue: @\n',
    'a: 1\n---\nlumigoToken: {value: @}\n',
  ])('is in no message about a file that is not YAML: %j [F77]', (text) => {
    const file = join(folder, 'broken.yaml');
    writeFileSync(file, text.replaceAll('@', validToken));
    const message = getMessage(() => loadSettings(file));
    expect(message).toContain('cannot be used');
    expect(tracesIn(message, validToken)).toEqual([]);
  });

  it('is in no message of the Pulumi component [F77]', () => {
    const refused = everyMessage(({ settings }) => getMessage(() => new LumigoOperator('lumigo', { settings })));
    expect(refused).toBeGreaterThan(90);
  });
});
