import { text, type Cel } from '../cel.ts';

export class Expression {
  constructor(readonly cel: Cel) {}
}

export class Maybe {
  constructor(
    readonly condition: Cel,
    readonly cel: Cel,
  ) {}
}

/** Returns the CEL literal of a JSON value. CEL requires `dyn` for values of several types in one map or list. */
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
