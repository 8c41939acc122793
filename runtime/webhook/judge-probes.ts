import type { Problem } from '../injection/types.ts';

/** The answer to a probe; `unknown` when it says nothing of the webhook. */
export type Reach =
  | { readonly reached: 'injector' | 'lumigoes' }
  | { readonly unreached: Problem }
  /** `unanswered`: there was no answer at all. */
  | { readonly unknown: string; readonly unanswered: boolean };

/** The content of the condition `WebhookReachable`. */
export interface WebhookSeen {
  readonly reachable: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Returns what an answer says about the webhook, or undefined if it says nothing about it. */
export function judgeProbe(reach: Reach): WebhookSeen | undefined {
  if ('unknown' in reach) return undefined;
  if ('unreached' in reach) return { reachable: false, ...reach.unreached };
  const rule =
    reach.reached === 'lumigoes' ? ' (checked with a Lumigo resource, because there is no workload to check with)' : '';
  return { reachable: true, reason: 'ProbeSucceeded', message: `The API server reaches the injector webhook${rule}` };
}
