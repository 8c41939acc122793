/**
 * How long to wait after so many failures in a row: doubling from `firstMs` up to `maxMs`, of which a random half is
 * taken off so that a thousand clients of a restarted server do not come back at once. `atLeastMs` is what the server asked for.
 */
export function backoffMs(
  failures: number,
  settings: { readonly firstMs: number; readonly maxMs: number },
  random: number,
  atLeastMs = 0,
): number {
  const full = Math.min(settings.maxMs, settings.firstMs * 2 ** Math.max(0, Math.min(failures, 30) - 1));
  return Math.max(full * (1 - random / 2), atLeastMs);
}
