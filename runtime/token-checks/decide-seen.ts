import type { Replaced } from '../credentials/credential.ts';
import type { Problem } from '../injection/types.ts';
import type { Asked, Found } from './plan-checks.ts';

/** What the checks say of the token of a namespace; left out: nothing yet. */
export interface TokenSeen {
  /** Lumigo's endpoint takes it, or refuses it. */
  readonly accepted?: Problem | 'working';
  /** Every pod sends under it, or some under one that it replaced. */
  readonly current?: Problem | 'working';
}

interface Place {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** How many workloads a message names. */
const NAMED = 5;

/** What the conditions of a Lumigo say of its token, of what was heard of Lumigo's endpoint and found in pods; left out: not known yet. */
export function tokenSeen(
  place: Place,
  replaced: Replaced | undefined,
  { asked, found }: { readonly asked: Asked | undefined; readonly found: Found | undefined },
): TokenSeen {
  const accepted = asked?.verdict === 'refused' ? refused(place, asked) : asked?.verdict && 'working';
  return { ...(accepted === undefined ? {} : { accepted }), ...currentOf(place, replaced, found) };
}

function currentOf(place: Place, replaced: Replaced | undefined, found: Found | undefined): Pick<TokenSeen, 'current'> {
  if (replaced === undefined) return { current: 'working' };
  if (found?.replacedAt !== replaced.until) return {};
  return { current: found.pods === 0 ? 'working' : formerInUse(place, found) };
}

const where = ({ namespace, name, key }: Place): string => `under '${key}' in Secret '${namespace}/${name}'`;

const refused = (place: Place, { status }: Asked): Problem => ({
  reason: 'TokenRefused',
  message: `Lumigo's endpoint refuses the token ${where(place)} (HTTP ${status}) and drops the data of this namespace. Put a valid token into the Secret (https://docs.lumigo.io/docs/lumigo-tokens). The operator checks again every minute`,
});

function formerInUse(place: Place, { pods, workloads, replacedAt }: Found): Problem {
  const named = workloads.slice(0, NAMED).join(', ');
  const more = workloads.length > NAMED ? ` and ${workloads.length - NAMED} more` : '';
  const [who, send] = pods === 1 ? ['1 pod', 'sends'] : [`${pods} pods`, 'send'];
  return {
    reason: 'FormerTokenInUse',
    message: `${who} started before the token ${where(place)} was replaced (${replacedAt}) and still ${send} the former one. The telemetry proxy accepts that for an hour, then answers 401. Restart ${named}${more}`,
  };
}
