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

/** Returns a number of cores or bytes, rounded down, in the form that the API server stores. */
export function writeQuantity(amount: number, unit: 'cores' | 'bytes'): string {
  const isCores = unit === 'cores';
  const base = isCores ? 1000 : 1024;
  const suffixes = isCores ? ['m', '', 'k'] : ['Mi', 'Gi', 'Ti', 'Pi'];
  // A product of two quantities can be slightly below its exact value.
  let rest = Math.floor(amount * (isCores ? 1000 : 1024 ** -2) + 1e-6);
  let power = 0;
  for (; rest > 0 && rest % base === 0 && power < suffixes.length - 1; power += 1) rest /= base;
  return `${rest}${suffixes[power]}`;
}
