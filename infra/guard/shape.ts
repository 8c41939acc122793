import { all, text, texts, type Cel } from '../constructs/cel.ts';

/** The form of a JSON value. A function returns the condition of a variable value. A map has no further keys. */
export type Shape =
  string | number | boolean | Condition | Optional | readonly Shape[] | { readonly [key: string]: Shape };

type Condition = (path: Cel) => Cel;

/** The value of a key that may be missing. */
export class Optional {
  constructor(readonly shape: Exclude<Shape, Optional>) {}
}

export const anything: Condition = () => 'true';

export function hasShape(path: Cel, shape: Shape): Cel {
  if (shape instanceof Optional) return hasShape(path, shape.shape);
  if (typeof shape === 'function') return shape(path);
  if (typeof shape === 'string') return `${path} == ${text(shape)}`;
  if (typeof shape !== 'object') return `${path} == ${String(shape)}`;
  return Array.isArray(shape) ? hasItems(path, shape as readonly Shape[]) : hasEntries(path, Object.entries(shape));
}

const hasItems = (path: Cel, shapes: readonly Shape[]): Cel =>
  all(`${path}.size() == ${shapes.length}`, ...shapes.map((shape, index) => hasShape(`${path}[${index}]`, shape)));

function hasEntries(path: Cel, entries: readonly (readonly [string, Shape])[]): Cel {
  const keys = entries.map(([key]) => key);
  return all(`${path}.all(key, key in ${texts(keys)})`, ...entries.map(([key, shape]) => hasField(path, key, shape)));
}

function hasField(path: Cel, key: string, shape: Shape): Cel {
  const field = `${path}.${key}`;
  if (shape === anything) return `has(${field})`;
  if (typeof shape === 'string') return `${path}.?${key} == optional.of(${text(shape)})`;
  if (shape instanceof Optional) return `(!has(${field}) || ${hasShape(field, shape)})`;
  return `has(${field}) && ${hasShape(field, shape)}`;
}
