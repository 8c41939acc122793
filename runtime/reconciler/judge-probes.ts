import type { Problem } from '../injection/types.ts';

/** What one API server's answer says; `unknown` when it says nothing of the webhook. */
export type Reach =
  | { readonly reached: 'injector' | 'lumigoes' }
  | { readonly unreached: Problem }
  /** `unanswered`: there was no answer at all. */
  | { readonly unknown: string; readonly unanswered: boolean };

/** What the condition `WebhookReachable` says. */
export interface WebhookSeen {
  readonly reachable: boolean;
  readonly reason: string;
  readonly message: string;
}

/** What the API server at an address (undefined: whichever the Service gives) says. */
export interface Probed {
  readonly address: string | undefined;
  readonly reach: Reach;
}

/** What follows from the answers of all API servers; undefined when none of them tells anything. */
export function judgeProbes(probed: readonly Probed[]): WebhookSeen | undefined {
  const failed = probed.flatMap(({ address, reach }) =>
    'unreached' in reach ? [{ address, ...reach.unreached }] : [],
  );
  const [first] = failed;
  if (first !== undefined) {
    const where = failed.flatMap(({ address }) => address ?? []).join(', ');
    const message = where === '' ? first.message : `${first.message}. This applies to the API server at ${where}`;
    return { reachable: false, reason: first.reason, message };
  }
  const reached = probed.flatMap(({ reach }) => ('reached' in reach ? [reach.reached] : []));
  if (reached.length === 0) return undefined;
  return { reachable: true, reason: 'ProbeSucceeded', message: success(probed, reached) };
}

function success(probed: readonly Probed[], reached: readonly ('injector' | 'lumigoes')[]): string {
  const asked = probed.filter(({ address }) => address !== undefined);
  const silent = asked.flatMap(({ address, reach }) => ('unknown' in reach ? [address] : []));
  const subject =
    asked.length - silent.length > 1
      ? `All ${reached.length} API servers that answered reach`
      : 'The API server reaches';
  const rule = reached.includes('lumigoes')
    ? ' (checked with a Lumigo resource, because there is no workload to check with)'
    : '';
  const unasked =
    silent.length === 0 ? '' : `. Not checked, because the operator's pod gets no answer there: ${silent.join(', ')}`;
  return `${subject} the injector webhook${rule}${unasked}`;
}
