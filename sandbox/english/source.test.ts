import { describe, expect, it } from '@jest/globals';
import { passagesOfSource } from './source.ts';

const read = (source: string, file = 'x.ts') =>
  passagesOfSource(file, source).map(({ kind, line, text }) => [kind, line, text.trim()]);

describe('the passages of a program', () => {
  it('are its comments, with consecutive line comments as one', () => {
    const source = `/**
 * Waits for the pod.
 * Then it stops.
 * @throws Error if the pod fails
 */
const a = 'http://example.com'; // Trailing.
const b = /[/][/]no comment/;
  // One sentence
  // on two lines.
// eslint-disable-next-line
const c = 1; /* Last. */
`;
    expect(read(source)).toEqual([
      ['comment', 2, 'Waits for the pod.\nThen it stops.'],
      ['comment', 4, 'Error if the pod fails'],
      ['comment', 6, 'Trailing.'],
      ['comment', 8, 'One sentence\non two lines.\neslint-disable-next-line'],
      ['comment', 11, 'Last.'],
    ]);
  });

  it('are its texts: literals, templates and sums, each with x for an expression or code', () => {
    const source = `log.warn({ code }, 'cannot read the Secret');
const a = \`Removed \${count} pods, run \\\`kubectl get\\\` to see \${which ? 'all the other pods' : 'one'}\`;
const b = 'The pod is ' + state + ' and waits for ' +
  'the next one';`;
    expect(read(source)).toEqual([
      ['message', 1, 'cannot read the Secret'],
      ['message', 2, 'Removed x pods, run x to see x'],
      ['message', 2, 'all the other pods'],
      ['message', 3, 'The pod is x and waits for the next one'],
    ]);
  });

  it.each([
    'three words only',
    'sum by (pod) (rate(x_total[5m])) > 0',
    'apiVersion: v1 kind: Secret metadata: {name: x}',
    'test -n "$x" && exit 0 || exit one',
    '/usr/bin/env node --import tsx main.ts',
  ])('are not queries, commands and data: %s', (text) => expect(read(`f(${JSON.stringify(text)})`)).toEqual([]));

  it('are the titles of a test, and not the texts that it expects', () => {
    const source = `describe.each(table)('a pod', () => { it('waits', () => expect(a).toBe('the text of a message')); });`;
    expect(read(source, 'x.test.ts')).toEqual([
      ['title', 1, 'a pod'],
      ['title', 1, 'waits'],
    ]);
  });
});
