import type { Problem } from '../api/lumigo.ts';
import type { TokenSource } from '../credentials/credential.ts';
import type { Asked } from './plan-checks.ts';

export interface TokenSeen {
  /** The generation of the `Lumigo` that names the token. */
  readonly generation?: number | undefined;
  /** `working` if Lumigo's endpoint accepts the token. Missing until the first answer. */
  readonly accepted?: Problem | 'working';
}

type Place = Pick<TokenSource, 'namespace' | 'name' | 'key'>;

export function tokenSeen(place: Place, asked: Asked | undefined): TokenSeen {
  if (asked?.verdict === undefined) return {};
  return { accepted: asked.verdict === 'refused' ? refused(place, asked) : 'working' };
}

const refused = ({ namespace, name, key }: Place, { status }: Asked): Problem => ({
  reason: 'TokenRefused',
  message: `Lumigo's endpoint refuses the token under '${key}' in Secret '${namespace}/${name}' (HTTP ${status}) and drops the data of this namespace. Put a valid token into the Secret (https://docs.lumigo.io/docs/lumigo-tokens). The operator checks again every minute`,
});
