import type { OriginalState } from '../../runtime/injection/original-state.ts';
import { tracerSettings } from '../../runtime/injection/tracer-settings.ts';
import { all, any, text, type Cel } from '../constructs/cel.ts';

/**
 * CEL cannot parse JSON, so patterns extract the parts of a record (runtime/injection/original-state.ts) that a removal restores. Each part of a
 * new record must be in the former record or object, so an attacker with the manager's token cannot invent any. A new record must have the form
 * that the operator writes, because the patterns would miss parts with spaces, escaped keys or another order.
 */

export const STRING = String.raw`"([^"\\]|\\.)*"`;
/** A flat JSON object, without its opening brace. */
const FLAT = String.raw`("\w+":(${STRING}|[-.\w]+),?)*\}`;
const VALUE = String.raw`"value(":${STRING}|From":\{"\w+":\{${FLAT}\})`;
export const VARIABLE = String.raw`\{"name":"\w+"(,${VALUE})?\}`;
export const MOUNT = String.raw`"mount":\{${FLAT}`;

/** Another field of a record needs a line here. CEL's limit for a record of 64 Ki has room for about 40 more characters. JSON.parse refuses commas that are missing or superfluous. */
const fields: readonly (readonly [value: string, ...(keyof OriginalState)[]])[] = [
  [STRING, 'endpoint', 'secretName', 'secretKey', 'label', 'safeToEvict', 'image', 'injector'],
  [String.raw`\[("[^\[\]",\\]+",?)*\]`, 'pullSecrets', 'skipped', 'excluded', 'initContainers', 'variables'],
  [String.raw`\w+`, 'traces', 'logs', 'format', 'emptyMetadata'],
  [String.raw`\{("${tracerSettings.name.slice(1, -1)}":\{${VALUE}\},?)*\}`, 'env'],
  [String.raw`\{("[^"\\]+":\{("env":\[(${VARIABLE},?)*\],?)?(${MOUNT})?\},?)*\}`, 'kept'],
];
const patterns = fields.map(([value, ...keys]) => `"(${keys.join('|')})":${value},?`);
export const RECORD = String.raw`^(\{(${patterns.join('|')})*\})?$`;

export const originalStateNames = (record: Cel, list: 'pullSecrets' | 'variables'): Cel =>
  `${record}.findAll(${text(String.raw`"${list}":\[[^\]]*\]`)}).join().replace(${text(`"${list}":`)}, '').findAll(${text('[^",\\[\\]]+')})`;

/** JSON and `strings.quote` escape these control characters differently. */
const CONTROL = String.raw`[\x00-\x07\x0b\x0e-\x1f]`;

/** Returns the condition that a text is the JSON of a variable. If the value has control characters, only the name is compared. */
export function isVariable(json: Cel, variable: Cel): Cel {
  const start = `'{"name":' + strings.quote(${variable}.name)`;
  const value = `(has(${variable}.value) ? ',"value":' + strings.quote(${variable}.value) : '')`;
  const literal = any(
    `${json} == ${start} + ${value} + '}'`,
    `${variable}.?value.orValue('').matches(${text(CONTROL)}) && ${json}.startsWith(${start} + ',"value":')`,
  );
  const reference = all(
    `${json}.startsWith(${start} + ',"valueFrom":{')`,
    `${variable}.valueFrom.all(source, ${all(`${json}.contains(strings.quote(source) + ':{')`, hasFields(json, `${variable}.valueFrom[source]`, 3))})`,
  );
  return `(has(${variable}.valueFrom) ? ${reference} : ${literal})`;
}

export const isMount = (json: Cel, mount: Cel): Cel => hasFields(json, mount, 1);

/** Returns the condition that a JSON object has exactly the fields of an object, in any order. `outside`: number of other keys. */
const hasFields = (json: Cel, object: Cel, outside: number): Cel => {
  const value = `${object}[field]`;
  const scalar = `(type(${value}) == string ? strings.quote(${value}) : string(${value}))`;
  return all(
    `${json}.findAll(${text(String.raw`"\w+":`)}).size() == ${outside} + ${object}.size()`,
    `${object}.all(field, ${json}.contains(strings.quote(field) + ':' + ${scalar}))`,
  );
};
