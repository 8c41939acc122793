import type { z } from 'zod';
import { nearest } from './nearest.ts';
import { settingEntries } from './tree.ts';

type Issue = z.core.$ZodIssue;

/** `webhook.excludedNamespaces[0]`, as one would write it in a question. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );
}

/** A sentence for each problem: where, what was found there, and what to do. `given` is the value that was checked. */
export function problemsOf(issues: readonly Issue[], given: unknown): readonly string[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownSetting([...issue.path, key]));
    const where = pathText(issue.path);
    if (where === '') return [`the settings ${issue.message}, but are ${found(given)}`];
    return [`${where} ${issue.message}, but is ${found(valueAt(given, issue.path))}`];
  });
}

function unknownSetting(path: readonly PropertyKey[]): string {
  const written = pathText(path);
  const meant = suggestion(written.replace(/\[\d+\]/g, '[]'));
  const hint = meant === undefined ? 'docs/reference/settings.md lists those that there are' : `did you mean ${meant}?`;
  return `${written} is not a setting; ${hint}`;
}

/** The nearest setting beside it, else one with nearly the same last part that stands somewhere else. */
function suggestion(written: string): string | undefined {
  const known = [...new Set(settingEntries().flatMap(({ path }) => withParents(path)))];
  const parent = written.slice(0, written.lastIndexOf('.') + 1);
  const beside = known.filter((path) => path.slice(0, path.lastIndexOf('.') + 1) === parent);
  const last = nearest(lastPart(written), beside.map(lastPart));
  if (last !== undefined) return parent + last;
  const elsewhere = nearest(lastPart(written), known.map(lastPart));
  return known.find((path) => lastPart(path) === elsewhere);
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

const withParents = (path: string): string[] =>
  path.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'));

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}

/** What stands there, short enough for a sentence. */
function found(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
