/** Texts of CEL expressions, built of small parts. Every part that contains an operator is in parentheses. */
export type Cel = string;

/**
 * Returns a CEL string literal. It is in single quotes, because most of the texts contain double quotes.
 */
export const text = (value: string): Cel => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Returns a CEL list of string literals. */
export const texts = (values: readonly string[]): Cel => `[${values.map(text).join(', ')}]`;

/** Returns a CEL list of texts. The expression contains one text, because a chart knows a list only as a whole. */
export const listOf = (values: readonly string[]): Cel => `${text(values.join(','))}.split(',')`;

/** Joins conditions by a logical operator, one in each line. */
const joined = (operator: '&&' | '||', conditions: readonly Cel[]): Cel => {
  const lines = conditions.map((condition) => condition.replaceAll('\n', '\n  '));
  return conditions.length === 1 ? (conditions[0] ?? '') : `(\n  ${lines.join(` ${operator}\n  `)}\n)`;
};

export const all = (...conditions: readonly Cel[]): Cel => joined('&&', conditions);
export const any = (...conditions: readonly Cel[]): Cel => joined('||', conditions);

/** Returns a field of an object; `empty` if the field is missing. The path has dots, e.g. `metadata.labels`. */
export const fieldOr = (object: Cel, path: string, empty: Cel): Cel =>
  `${object}${path
    .split('.')
    .map((step) => `.?${step}`)
    .join('')}.orValue(${empty})`;

/** Returns the text at a key of a map; `missing` if there is none. */
export const entryOr = (map: Cel, key: string, missing: Cel = "''"): Cel => `${map}[?${text(key)}].orValue(${missing})`;

/** Returns true if two maps are equal, apart from the keys for which `excepted` is true. */
export const sameBut = (map: Cel, before: Cel, excepted: (key: Cel) => Cel): Cel =>
  all(
    `${map}.all(key, ${excepted('key')} || key in ${before} && ${map}[key] == ${before}[key])`,
    `${before}.all(key, ${excepted('key')} || key in ${map})`,
  );

/** Returns true if two maps are equal apart from these keys. */
export const sameExcept = (map: Cel, before: Cel, keys: readonly string[]): Cel =>
  sameBut(map, before, (key) => `${key} in ${texts(keys)}`);

/** Returns true if a list and its former version have equal items, apart from those for which `excepted` is true. */
export const sameItemsBut = (list: Cel, before: Cel, excepted: (item: Cel) => Cel): Cel =>
  `${list}.filter(item, !${excepted('item')}) == ${before}.filter(item, !${excepted('item')})`;
