const factors: ReadonlyMap<string, number> = new Map([
  ...['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, index) => [suffix, 1000 ** (index - 3)] as const),
  ...['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, index) => [suffix, 1024 ** (index + 1)] as const),
]);

/** Returns a Kubernetes quantity as a number, exact enough to compare two; undefined if the text is no quantity. */
export function parseQuantity(quantity: string | number | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const [, digits = '', suffix = ''] = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/.exec(String(quantity)) ?? [];
  const factor = factors.get(suffix);
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor;
}

const units = {
  cores: { base: 1000, inSmallest: 1000, suffixes: ['m', '', 'k'] },
  bytes: { base: 1024, inSmallest: 1024 ** -2, suffixes: ['Mi', 'Gi', 'Ti', 'Pi'] },
};

/** Returns a number of cores or bytes, rounded down, in the form that the API server stores. */
export function writeQuantity(amount: number, unit: keyof typeof units): string {
  const { base, inSmallest, suffixes } = units[unit];
  // A product of two quantities can be slightly below its exact value.
  let rest = Math.floor(amount * inSmallest + 1e-6);
  let power = 0;
  for (; rest % base === 0 && power < suffixes.length - 1; power += 1) rest /= base;
  return `${rest}${suffixes[power]}`;
}
