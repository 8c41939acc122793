import { all, any, text, type Cel } from '../constructs/cel.ts';

/**
 * The record of an injection (runtime/injection/record.ts), as CEL reads it. CEL has no parser of JSON, so patterns extract the parts that a
 * removal restores. Each part of a new record must be in the former record or in the former object. So a former record contains nothing
 * that an attacker with the manager's token made up: the same patterns extract the same parts from it later.
 */

/** The pattern of a JSON string. */
export const STRING = String.raw`"(?:[^"\\]|\\.)*"`;
/** A flat JSON object, without its first brace. */
const FLAT = String.raw`(?:[^"{}]|${STRING})*\}`;
/** An environment variable that the injection replaced. */
const VARIABLE = String.raw`\{"name":${STRING}(?:,"value":${STRING}|,"valueFrom":\{${STRING}:\{${FLAT}\})?\}`;
/** A volume mount that the injection replaced. */
const MOUNT = String.raw`"mount":\{${FLAT}`;

/** Returns the replaced environment variables of a record, as JSON. */
export const replacedVariables = (record: Cel): Cel => `${record}.findAll(${text(VARIABLE)})`;

/** Returns the replaced mounts of a record, as JSON. */
export const replacedMounts = (record: Cel): Cel => `${record}.findAll(${text(MOUNT)})`;

/** Returns the names in a list of a record. */
export const recordedNames = (record: Cel, list: 'pullSecrets' | 'variables'): Cel =>
  `${record}.find(${text(String.raw`"${list}":\[[^\]]*\]`)}).replace(${text(`"${list}":`)}, '').findAll(${text('[^",\\[\\]]+')})`;

/** Control characters that JSON and `strings.quote` write in different ways. */
const CONTROL = String.raw`[\x00-\x07\x0b\x0e-\x1f]`;

/** Returns true if a text is the JSON of an environment variable. Only the name is compared if the value has control characters. */
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

/** Returns true if a text is the JSON of a mount in a record. */
export const isMount = (json: Cel, mount: Cel): Cel => hasFields(json, mount, 1);

/**
 * Returns true if a JSON object has the fields of an object and no others. Their order differs between built-in kinds and those of an add-on.
 * @param outside number of keys outside of the object
 */
const hasFields = (json: Cel, object: Cel, outside: number): Cel => {
  const value = `${object}[field]`;
  const scalar = `(type(${value}) == string ? strings.quote(${value}) : string(${value}))`;
  return all(
    `${json}.findAll(${text('"[A-Za-z]+":')}).size() == ${outside} + ${object}.size()`,
    `${object}.all(field, ${json}.contains(strings.quote(field) + ':' + ${scalar}))`,
  );
};
