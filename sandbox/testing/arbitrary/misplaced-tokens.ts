import fc from 'fast-check';

/** A token that was pasted into a wrong place of the settings. */
export interface Misplaced {
  readonly token: string;
  readonly settings: object;
}

const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 21, maxLength: 21 });

const written = hex.chain((digits) =>
  fc
    .constantFrom(
      `t_${digits}`,
      `t_${digits}\n`,
      ` t_${digits}`,
      `"t_${digits}"`,
      `t_${digits.slice(0, 12)}\n${digits.slice(12)}`,
      `t_${digits.slice(0, 12)} ${digits.slice(12)}`,
      `t_${digits.slice(0, 12)}'${digits.slice(12)}`,
      `t_${digits}${digits}`,
      `T_${digits}`,
      digits,
      `LumigoToken ${digits}`,
    )
    .map((text) => ({ digits, text })),
);

const places: readonly ((text: string) => object)[] = [
  (text) => ({ lumigoToken: { value: text } }),
  (text) => ({ lumigoToken: { value: [text] } }),
  (text) => ({ lumigoToken: { value: { token: text } } }),
  (text) => ({ lumigoToken: { value: { [text]: '' } } }),
  (text) => ({ lumigoToken: { valeu: text } }),
  (text) => ({ lumigoToken: { [text]: '' } }),
  (text) => ({ lumigoToken: { secretName: text } }),
  (text) => ({ lumigoToken: { secretKey: [text] } }),
  (text) => ({ lumigoToken: text }),
  (text) => ({ lumigoToken: [text] }),
  (text) => ({ lumigoTokn: text }),
  (text) => ({ lumigotoken: { value: text } }),
];

const pastedInto = (place: (text: string) => object): fc.Arbitrary<Misplaced> =>
  written.map(({ digits, text }) => ({ token: digits, settings: place(text) }));

export const misplaced = fc.oneof(...places.map(pastedInto));

/** One token for each place. */
export const misplacedEverywhere = fc.tuple(...places.map(pastedInto));

const SHORTEST_TRACE = 6;

export function tracesIn(text: string, token: string): readonly string[] {
  const parts = Array.from({ length: token.length - SHORTEST_TRACE + 1 }, (_, index) =>
    token.slice(index, index + SHORTEST_TRACE),
  );
  return parts.filter((part) => text.includes(part));
}
