import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { suffixes } from '../../runtime/contract.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import type { Installation } from '../manager/install.ts';

/** A request in the audit log. A long one has two entries, which differ in their stage. */
export interface AuditEntry {
  readonly verb: string;
  readonly stage: string;
  readonly userAgent?: string;
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly user: { readonly username: string; readonly extra?: Readonly<Record<string, readonly string[]>> };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number };
  /** The body, if the policy asks for it. */
  readonly responseObject?: unknown;
}

/** Returns every request so far to an API server that was started with `audit`. */
export const readAudit = ({ auditLog }: Pick<ControlPlane, 'auditLog'>): readonly AuditEntry[] =>
  followAudit(auditLog)();

/** Returns a function that reads the entries since its last call. A half-written one waits for the next call. */
export function followAudit(auditLog: string): () => readonly AuditEntry[] {
  let offset = 0;
  return () => {
    const file = openSync(auditLog, 'r');
    const added = Buffer.alloc(fstatSync(file).size - offset);
    readSync(file, added, 0, added.length, offset);
    closeSync(file);
    const whole = added.subarray(0, added.lastIndexOf('\n') + 1);
    offset += whole.length;
    const lines = whole.toString().split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as AuditEntry);
  };
}

type Account = 'manager' | 'telemetryProxy' | 'check';

export const operatorRequests = (
  cluster: ControlPlane,
  installation: Installation,
  account?: Account,
): readonly AuditEntry[] => readAudit(cluster).filter(isOperators(installation, account));

export function isOperators({ settings }: Installation, account: Account = 'manager'): (entry: AuditEntry) => boolean {
  const name = `system:serviceaccount:${settings.namespace}:${settings.name}${suffixes[account]}`;
  return ({ user }) => user.username === name;
}
