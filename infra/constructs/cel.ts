/** A CEL expression. Each part that contains an operator is in parentheses, so expressions can be combined as texts. */
export type Cel = string;

/** Returns a CEL string literal, in single quotes, because most of the texts contain double quotes. */
export const text = (value: string): Cel => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

export const texts = (values: readonly string[]): Cel => `[${values.map(text).join(', ')}]`;

/** Returns a CEL list of texts. The expression contains one text, because a chart can only replace a list as a whole. */
export const listOf = (values: readonly string[]): Cel => `${text(values.join(','))}.split(',')`;

const joined = (operator: '&&' | '||', conditions: readonly Cel[]): Cel => {
  const lines = conditions.map((condition) => condition.replaceAll('\n', '\n  '));
  return conditions.length === 1 ? (conditions[0] ?? '') : `(\n  ${lines.join(` ${operator}\n  `)}\n)`;
};

export const all = (...conditions: readonly Cel[]): Cel => joined('&&', conditions);
export const any = (...conditions: readonly Cel[]): Cel => joined('||', conditions);

/** Returns a field of an object, or `empty` if it is missing. The path has dots, e.g. `metadata.labels`. */
export const fieldOr = (object: Cel, path: string, empty: Cel): Cel =>
  `${object}${path
    .split('.')
    .map((step) => `.?${step}`)
    .join('')}.orValue(${empty})`;

export const entryOr = (map: Cel, key: string, missing: Cel = "''"): Cel => `${map}[?${text(key)}].orValue(${missing})`;

/** Returns the condition that two maps are equal, apart from the keys for which `excepted` is true. */
export const sameBut = (map: Cel, before: Cel, excepted: (key: Cel) => Cel): Cel =>
  all(
    `${map}.all(key, ${excepted('key')} || key in ${before} && ${map}[key] == ${before}[key])`,
    `${before}.all(key, ${excepted('key')} || key in ${map})`,
  );

export const sameExcept = (map: Cel, before: Cel, keys: readonly string[]): Cel =>
  sameBut(map, before, (key) => `${key} in ${texts(keys)}`);

export const sameItemsBut = (list: Cel, before: Cel, excepted: (item: Cel) => Cel): Cel =>
  `${list}.filter(item, !${excepted('item')}) == ${before}.filter(item, !${excepted('item')})`;
