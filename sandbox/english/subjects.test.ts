import { describe, expect, it } from '@jest/globals';
import { findingsOfSubject } from './subjects.ts';

describe('the subject of a commit', () => {
  it.each([
    'docs: lay the pages out by what a reader does',
    'runtime/rollout: fix the order of StatefulSets',
    'ci: bring, embed and focus',
    'test: process the list twice',
    'Revert "docs: lay the pages out"',
  ])('can be "%s"', (subject) => expect(findingsOfSubject(subject)).toEqual([]));

  it.each([
    ['Floors are checked, and not only drawn', 'area: imperative'],
    ['docs:lay the pages out', 'area: imperative'],
    ['docs: fixed the pages', 'the imperative'],
    ['docs: fixing the pages', 'the imperative'],
    ['docs: adds a page', 'the imperative'],
    ['docs: the pages have an order', 'the imperative'],
    [`docs: write ${'x'.repeat(61)}`, 'at most 72'],
  ])('cannot be "%s"', (subject, instead) => {
    expect(findingsOfSubject(subject)).toMatchObject([{ rule: 'subject', instead }]);
  });
});
