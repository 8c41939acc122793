/**
 * Whether one resourceVersion is older than another. They are numbers on every API server (and since Kubernetes 1.35
 * comparable by contract); what is none counts as newer.
 */
export function isOlder(seen: string | undefined, known: string): boolean {
  const [a, b] = [Number(seen), Number(known)];
  return Number.isFinite(a) && Number.isFinite(b) && a < b;
}
