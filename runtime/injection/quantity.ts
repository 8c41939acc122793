const factors: ReadonlyMap<string, number> = new Map([
  ['n', 1e-9],
  ['u', 1e-6],
  ['m', 1e-3],
  ['', 1],
  ['k', 1e3],
  ['M', 1e6],
  ['G', 1e9],
  ['T', 1e12],
  ['P', 1e15],
  ['E', 1e18],
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['Gi', 2 ** 30],
  ['Ti', 2 ** 40],
  ['Pi', 2 ** 50],
  ['Ei', 2 ** 60],
]);

const FORM = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([A-Za-z]*)$/;

/** A Kubernetes quantity (`500m`, `1Gi`, `1e3`) as a number; undefined for what is none. Exact enough to tell which of two is larger. */
export function parseQuantity(quantity: string | number | undefined): number | undefined {
  const [, digits = '', suffix = ''] = FORM.exec(String(quantity)) ?? [];
  const factor = factors.get(suffix);
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor;
}
