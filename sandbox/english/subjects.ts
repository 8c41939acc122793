import { spawnSync } from 'node:child_process';
import type { Finding } from './passage.ts';

const MAX_CHARACTERS = 72;
const AREA = /^[a-z][a-z0-9,/ -]*: (\S+)/;
/** Past tense, -ing, third person, and words that begin a description of the new state. */
const NOT_IMPERATIVE =
  /^(?!(?:bring|embed|need|seed|speed|feed|string|focus|alias)$)(?:the|an?|no|\w+(?:ed|ing|[^us]s))$/i;

export function findingsOfSubject(subject: string): readonly Omit<Finding, 'line'>[] {
  if (/^(?:Revert|Reapply) "/.test(subject)) return [];
  const [, verb] = AREA.exec(subject) ?? [];
  const findings: Omit<Finding, 'line'>[] = [];
  const report = (found: string, instead: string) => findings.push({ rule: 'subject', found, instead });
  if (verb === undefined) report(subject, 'area: imperative');
  else if (NOT_IMPERATIVE.test(verb)) report(verb, 'the imperative');
  if (subject.length > MAX_CHARACTERS) report(`${subject.length} characters`, `at most ${MAX_CHARACTERS}`);
  return findings;
}

/** Returns hash and subject of the descendants of the commit that added this file. In a shallow clone, there are fewer or none. */
export function subjectsToCheck(): readonly (readonly [hash: string, subject: string])[] {
  const [base] = git('log', '--diff-filter=A', '--format=%H', '-1', '--', 'sandbox/english/subjects.ts');
  if (base === undefined) return [];
  return git('log', '--no-merges', '--ancestry-path', '--format=%h %s', `${base}..HEAD`).map((line) => {
    const space = line.indexOf(' ');
    return [line.slice(0, space), line.slice(space + 1)];
  });
}

const git = (...args: readonly string[]): readonly string[] =>
  (spawnSync('git', args, { encoding: 'utf8' }).stdout ?? '').split('\n').filter((line) => line !== '');
