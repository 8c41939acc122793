import { readFileSync } from 'node:fs';
import { suffixes } from '../../runtime/contract.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { Installation } from '../manager/install.ts';

/** A request as the API server has noted it; one that takes long stands there twice, by its stage. */
export interface AuditEntry {
  readonly verb: string;
  readonly stage: string;
  readonly userAgent?: string;
  readonly requestURI: string;
  /** RFC 3339, to the microsecond. */
  readonly requestReceivedTimestamp: string;
  readonly user: { readonly username: string; readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}

/** Every request so far to an API server that was started with `audit`. */
export const readAudit = ({ auditLog }: Pick<ControlPlane, 'auditLog'>): readonly AuditEntry[] =>
  readFileSync(auditLog, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEntry);

/** Those that came from the operator, as one of its accounts; left out: as the manager's. */
export function operatorRequests(
  cluster: ControlPlane,
  { settings }: Installation,
  account: 'manager' | 'telemetryProxy' = 'manager',
): readonly AuditEntry[] {
  const user = `system:serviceaccount:${settings.namespace}:${settings.name}${suffixes[account]}`;
  return readAudit(cluster).filter((entry) => entry.user.username === user);
}
