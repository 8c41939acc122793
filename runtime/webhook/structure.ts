/**
 * The most commas, brackets and braces in a large body. It is the structure that costs when JSON is parsed: 7 MB of
 * `[{},{},…]` take 163 MB of heap. The largest object that is decided about (injection/size.ts), with its managed fields and
 * the object before, has fewer than half as many.
 */
export const MOST_STRUCTURE = 100_000;

const structural = new Uint8Array(256);
for (const character of ',[{') structural[character.charCodeAt(0)] = 1;

/**
 * Whether there is more than that in a text of JSON; those inside of strings count as well, which is simple and errs on the safe side. By an
 * index: an iterator takes five times as long, which was half of what a large review cost.
 */
export function isTooStructured(bytes: Uint8Array): boolean {
  let count = 0;
  for (let index = bytes.length - 1; index >= 0; index -= 1) count += structural[bytes[index] ?? 0] ?? 0;
  return count > MOST_STRUCTURE;
}
