import { rmSync } from 'node:fs';
import { writeFiles } from '../helm/write-files.ts';
import { getNotices } from '../settings/notices.ts';
import { loadSettings, SettingsError, settingsVariable } from '../settings/settings.ts';
import { bundleFiles, toBundled } from './bundle.ts';

const warn = (line: string) => process.stderr.write(`${line}\n`);

/** `npm run olm [FOLDER]`: writes the bundle for OLM, with the settings in `LUMIGO_SETTINGS`. Default: dist/olm. */
function main([folder = 'dist/olm']: readonly string[]): number {
  try {
    const settings = toBundled(loadSettings(process.env[settingsVariable], warn));
    const files = bundleFiles(settings);
    rmSync(folder, { recursive: true, force: true });
    writeFiles(folder, files);
    process.stdout.write(`${folder}\n`);
    for (const notice of getNotices(settings)) warn(notice);
    return 0;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    warn(error.message);
    return 1;
  }
}

process.exitCode = main(process.argv.slice(2));
