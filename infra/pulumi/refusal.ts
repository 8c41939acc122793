import { RunError } from '@pulumi/pulumi';
import { SettingsError } from '../settings/settings.ts';

/** Returns an error without a stack. Node.js 20 and 22 take 20 s to inspect one with colours below node_modules/@pulumi (nodejs/node 64011). */
export function refusal(message: string): RunError {
  const error = new RunError(message);
  delete error.stack;
  return error;
}

/** Returns the action's result, or throws a refusal if the settings cannot be installed. */
export function orRefuse<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw error instanceof SettingsError ? refusal(error.message) : error;
  }
}
