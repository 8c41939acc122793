import { parseSettings, SettingsError } from '../../infra/settings/settings.ts';

/** Returns the problems of settings, one sentence each. */
export function getProblems(given: unknown): readonly string[] {
  try {
    parseSettings(given);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}
