import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { IssuedPair, IssuePair } from './issue.ts';

/** Signing anew takes a tenth of a second; a machine may be busy. */
const TIMEOUT_MS = 60_000;

/**
 * Issues in a process of its own (issuer.ts), which ends with it: the library that makes certificates takes 13 MB, once a year.
 * It has the flags of this process, among them the one that closes Node.js' inspector (Dockerfile).
 * @throws Error with what that process said
 */
export const issueElsewhere: IssuePair = async (host, days, now) => {
  const program = join(import.meta.dirname, 'issuer.js');
  const options = { timeout: TIMEOUT_MS, env: {} };
  const args = [...process.execArgv, program, host, String(days), String(now)];
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return JSON.parse(stdout) as IssuedPair;
};
