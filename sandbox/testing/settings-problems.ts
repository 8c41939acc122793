import { parseSettings, SettingsError } from '../../infra/settings/settings.ts';

/** What is wrong with settings, a sentence each; none where nothing is. */
export function problemsOf(given: unknown): readonly string[] {
  try {
    parseSettings(given);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}
