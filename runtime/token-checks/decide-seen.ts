import type { Problem } from '../api/lumigo.ts';
import type { TokenSource } from '../credentials/credential.ts';
import type { Asked } from './plan-checks.ts';

export interface TokenSeen {
  /** The generation of the `Lumigo` that names the token. */
  readonly generation?: number | undefined;
  /** `working` if Lumigo's endpoint accepts the token. Missing until the first answer. */
  readonly accepted?: Problem | 'working';
}

export function tokenSeen({ namespace, name, key }: TokenSource, asked: Asked | undefined): TokenSeen {
  if (asked?.verdict === undefined) return {};
  if (asked.verdict === 'accepted') return { accepted: 'working' };
  const message = `Lumigo's endpoint refuses the token under '${key}' in Secret '${namespace}/${name}' (HTTP ${asked.status}) and drops the data of this namespace. Put a valid token into the Secret (https://docs.lumigo.io/docs/lumigo-tokens). The operator checks again every minute`;
  return { accepted: { reason: 'TokenRefused', message } };
}
