import { RunError } from '@pulumi/pulumi';
import { SettingsError } from '../settings/settings.ts';

/**
 * Returns an error that Pulumi shows as its message alone. It has no stack, because the SDK inspects an error with colours. With a
 * stack below node_modules/@pulumi, Node.js 20 and 22 take 20 s for that (nodejs/node 64011).
 */
export function refusal(message: string): RunError {
  const error = new RunError(message);
  delete error.stack;
  return error;
}

/** Returns the action's result; settings that cannot be installed become a refusal. */
export function orRefuse<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw error instanceof SettingsError ? refusal(error.message) : error;
  }
}
