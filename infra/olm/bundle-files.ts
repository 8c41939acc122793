import { rmSync } from 'node:fs';
import { writeFiles } from '../helm/write-files.ts';
import { getNotices } from '../settings/notices.ts';
import { loadSettings, SettingsError, settingsVariable } from '../settings/settings.ts';
import { bundleFiles, toBundled } from './bundle.ts';

const folder = 'dist/olm';
const warn = (line: string) => process.stderr.write(`${line}\n`);

/** `npm run olm`: writes the bundle for OLM, with the settings in `LUMIGO_SETTINGS`. */
try {
  const settings = toBundled(loadSettings(process.env[settingsVariable], warn));
  const files = bundleFiles(settings);
  rmSync(folder, { recursive: true, force: true });
  writeFiles(folder, files);
  process.stdout.write(`${folder}\n`);
  for (const notice of getNotices(settings)) warn(notice);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  warn(error.message);
  process.exitCode = 1;
}
