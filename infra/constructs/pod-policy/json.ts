import { text, type Cel } from '../cel.ts';

/** A value that is known only when the policy runs. */
export class Expression {
  constructor(readonly cel: Cel) {}
}

/** A value that is there if a condition holds. Its key is left out otherwise. */
export class Maybe {
  constructor(
    readonly condition: Cel,
    readonly cel: Cel,
  ) {}
}

/**
 * Returns the CEL literal of a JSON value. CEL takes values of several types in one map or list only if each is `dyn`.
 * @param texts returns the CEL of a text, if the text is more than itself
 */
export function json(value: unknown, texts: (value: string) => Cel = text): Cel {
  if (value instanceof Expression) return value.cel;
  if (typeof value === 'string') return texts(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map((item) => `dyn(${json(item, texts)})`).join(', ')}]`;
  const entries = Object.entries(value).flatMap(([key, each]) => (each === undefined ? [] : entry(key, each, texts)));
  return `{\n  ${entries.join(',\n').replaceAll('\n', '\n  ')}\n}`;
}

const entry = (key: string, value: unknown, texts: (value: string) => Cel): Cel =>
  value instanceof Maybe
    ? `?${text(key)}: ${value.condition} ? optional.of(dyn(${value.cel})) : optional.none()`
    : `${text(key)}: dyn(${json(value, texts)})`;
