import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KeyPair } from './issue.ts';

/** A serving pair, and the certificate of the authority made for it alone, whose key nobody keeps. All PEM. */
export interface IssuedPair extends KeyPair {
  readonly authority: string;
}

/** What issues: for this host (a DNS name or an IP address), for so many days from now on (milliseconds since 1970). */
export type IssuePair = (host: string, days: number, now: number) => Promise<IssuedPair>;

/** Signing anew takes a tenth of a second; a machine may be busy. */
const TIMEOUT_MS = 60_000;

/**
 * Issues in a process of its own (issuer.ts), which ends with it: the library that makes certificates takes 13 MB, once a year.
 * @throws Error with what that process said
 */
export const issueElsewhere: IssuePair = async (host, days, now) => {
  const program = join(import.meta.dirname, 'issuer.js');
  const options = { timeout: TIMEOUT_MS, env: {} };
  const { stdout } = await promisify(execFile)(process.execPath, [program, host, String(days), String(now)], options);
  return JSON.parse(stdout) as IssuedPair;
};
