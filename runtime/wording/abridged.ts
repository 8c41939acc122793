/** Joins the first texts, and says how many more there are. Texts are names, or sentences without their full stop. */
export function abridged(texts: readonly string[], most: number, separator: ', ' | '. ' = ', '): string {
  const more = `${separator === ', ' ? 'and' : 'And'} ${texts.length - most} more`;
  return [...texts.slice(0, most), ...(texts.length > most ? [more] : [])].join(separator);
}
