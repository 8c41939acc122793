import { ConfigError } from '../wording/errors.ts';

declare const __OPERATOR_VERSION__: string;

export const programVersion = typeof __OPERATOR_VERSION__ === 'string' ? __OPERATOR_VERSION__ : 'dev';

/** Throws a ConfigError if settings are of another release than the program. Build metadata (`+…`) names no other release. */
export function requireOwn(version: unknown, program: string): void {
  if (program === 'dev' || typeof version !== 'string' || toRelease(version) === toRelease(program)) return;
  throw new ConfigError([
    `This program is ${program}, but its settings are of ${version}. Renew the tag and digest of controllerManager.manager.image`,
  ]);
}

const toRelease = (version: string) => version.split('+')[0];
