import type { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { mayHoldToken } from '../../runtime/wording/token.ts';
import { secretPaths, settingEntries } from './tree.ts';
import { withdrawnSetting } from './withdrawn.ts';

type Issue = z.core.$ZodIssue;

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');

/** Returns a sentence for each problem, which shows no secret value and none that may contain a token. */
export function getProblems(issues: readonly Issue[], given: unknown): readonly string[] {
  return issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownSetting([...issue.path, key]));
    const where = pathText(issue.path);
    const value = valueAt(given, issue.path);
    const shown = isSecret(where) ? getKind(value) : found(value);
    if (where === '') return [`the settings ${issue.message}, but are ${shown}`];
    return [`${where} ${issue.message}, but is ${shown}`];
  });
}

/** Returns true if a path is a secret setting, in one, or contains one. */
const isSecret = (path: string): boolean =>
  path === '' || secretPaths().some((secret) => `${path}.`.startsWith(`${secret}.`) || secret.startsWith(`${path}.`));

function unknownSetting(path: readonly PropertyKey[]): string {
  const written = pathText(path);
  const withdrawn = withdrawnSetting(written);
  if (withdrawn !== undefined) return withdrawn;
  const meant = suggestion(written.replace(/\[\d+\]/g, '[]'));
  const parent = pathText(path.slice(0, -1));
  if (mayHoldToken(written) || (meant === undefined && parent !== '' && isSecret(parent)))
    return `${mayHoldToken(parent) || parent === '' ? 'a section' : parent} has a key that is not a setting; it is not shown, because it may be a token`;
  const hint = meant === undefined ? 'docs/reference/settings.md lists those that there are' : `did you mean ${meant}?`;
  return `${written} is not a setting; ${hint}`;
}

/** Returns the nearest setting beside it, or one elsewhere with nearly the same last part. */
function suggestion(written: string): string | undefined {
  const known = [...new Set(settingEntries().flatMap(({ path }) => withParents(path)))];
  const parent = written.slice(0, written.lastIndexOf('.') + 1);
  const beside = known.filter((path) => path.slice(0, path.lastIndexOf('.') + 1) === parent);
  const last = didYouMean(lastPart(written), beside.map(lastPart));
  if (last !== undefined) return parent + last;
  const alike = known.filter((path) => path.includes('[]') === written.includes('[]'));
  const elsewhere = didYouMean(lastPart(written), alike.map(lastPart));
  return alike.find((path) => lastPart(path) === elsewhere);
}

const lastPart = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

const withParents = (path: string): string[] =>
  path.split('.').map((_, index, parts) => parts.slice(0, index + 1).join('.'));

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value);
}

function getKind(value: unknown): string {
  if (value === undefined) return 'missing';
  return `${describeKind(value)} (not shown, because it may hold a token)`;
}

function describeKind(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null || value === '') return 'empty';
  return kinds[typeof value] ?? 'something else';
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  object: 'a map',
};

function found(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  if (mayHoldToken(text) || /:\/\/[^/]*@/.test(text)) return getKind(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
