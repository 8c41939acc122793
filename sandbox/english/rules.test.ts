import { describe, expect, it } from '@jest/globals';
import type { Kind } from './passage.ts';
import { getFindings } from './rules.ts';
import { WORDS } from './words.ts';

const check = (kind: Kind, text: string, raw = text) =>
  getFindings({ kind, text, raw, line: 7 }).map(({ rule, found, line }) => `${line} ${rule}: ${found}`);
const sentence = (words: number): string => `${Array(words).fill('pod').join(' ')}.`;

describe('the rule of words', () => {
  it.each([
    ['nobody', 'Nobody reads it.'],
    ['puts its own back', 'The tool puts its own back.'],
    ['taken out', 'The injection is taken out.'],
    ['left as they are', 'Jobs are left as they are.'],
    ['stands in', 'The token stands in a Secret.'],
    ['told twice', 'An event is told twice.'],
    ['looked after', 'It is not looked after.'],
    ['mends', 'The operator mends it.'],
    ['ends with 1', 'The program ends with 1 then.'],
    ['some 2,000', 'There are some 2,000 of them.'],
    ['shall', 'It shall not pass.'],
  ])('reports "%s"', (found, text) => {
    expect(check('message', text).map((finding) => finding.toLowerCase())).toEqual([`7 words: ${found}`]);
  });

  it.each([
    'The bytes are put to the back of the queue.',
    'The writer stands out.',
    'some of the pods',
    'The amendment marshals x and x.',
  ])('accepts "%s"', (text) => expect(check('userPage', text)).toEqual([]));

  it('finds a phrase that a line feed divides, on the line where it begins', () => {
    expect(check('page', 'One.\nThe workload is put\nback.')).toEqual(['8 words: put back']);
  });

  it('accepts in other pages a phrase that it reports in user pages alone', () => {
    expect(check('userPage', 'A namespace of yours.')).toEqual(['7 words: of yours']);
    expect(check('page', 'A namespace of yours.')).toEqual([]);
  });

  it('has a better word for each', () => {
    expect(WORDS.filter(({ instead }) => instead.trim() === '')).toEqual([]);
  });
});

describe('the rule of beginnings', () => {
  it.each<[string, Kind, string]>([
    ['What', 'page', 'What breaks is reverted.'],
    ['Who', 'userPage', 'Who may patch a pod may restart it.'],
    ['Whose', 'comment', 'Whose pods never become ready.'],
    ['Of', 'page', 'Pods run. Of each pod the name is kept.'],
    ['For so long', 'comment', 'For so long the Lease is kept.'],
    ['So many', 'comment', 'So many requests at once.'],
    ['what', 'title', 'what follows from a change'],
    ['what', 'title', 'F12: what follows from a change'],
    ['Whether', 'comment', 'Whether a pod is ready.'],
    ['that', 'title', 'that is of no use reports its version'],
  ])('reports "%s" in a %s', (found, kind, text) => {
    expect(check(kind, text)).toContainEqual(`7 beginning: ${found}`);
  });

  it.each<[Kind, string]>([
    ['userPage', 'What happens to my pods?'],
    ['page', 'What it does'],
    ['page', 'Of course it waits for the pod.'],
    ['page', 'That is why it waits.'],
    ['comment', 'Retries forever. That is cheap here.'],
    ['message', 'of the pods in this namespace'],
    ['comment', 'Whatever happens, the Lease is released.'],
  ])('accepts in a %s "%s"', (kind, text) => expect(check(kind, text)).toEqual([]));
});

describe('the rule of length', () => {
  it('allows 25 words in a user page and 30 elsewhere', () => {
    expect(check('userPage', `${sentence(25)} ${sentence(25)}`)).toEqual([]);
    expect(check('userPage', sentence(26))).toEqual(['7 length: 26 words']);
    expect(check('comment', sentence(30))).toEqual([]);
    expect(check('comment', `Short.\n${sentence(31)}`)).toEqual(['8 length: 31 words']);
  });

  it('ends a sentence at a question mark or a bracket, and not at an abbreviation', () => {
    expect(check('userPage', `(${sentence(20)}) ${sentence(20).replace('.', '?')} ${sentence(20)}`)).toEqual([]);
    expect(check('userPage', `Pods, e.g. ${sentence(24)}`)).toEqual(['7 length: 26 words']);
  });
});

describe('the rule of semicolons', () => {
  it('allows one in a sentence, and reports a chain', () => {
    expect(check('page', 'It waits; it retries. It stops; it exits.')).toEqual([]);
    expect(check('page', 'It waits; it retries; it exits.')).toEqual(['7 semicolons: 2 semicolons']);
  });
});

describe('the rule of facts', () => {
  it('reports test files, dates and seeds in user pages, code included', () => {
    const raw = 'Tried\n(`infra/a.cluster.test.ts`, 2026-11-23) with\nseed 4.';
    expect(check('userPage', 'Tried (x, x) with x.', raw).toSorted()).toEqual(
      ['9 facts: seed', '8 facts: 2026-11-23', '8 facts: infra/a.cluster.test.ts'].toSorted(),
    );
    expect(check('page', 'Tried (x, x) with x.', raw)).toEqual([]);
  });
});
