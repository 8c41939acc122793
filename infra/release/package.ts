import { renameSync } from 'node:fs';
import { publisher } from '../settings/publisher.ts';
import { operatorVersion } from '../settings/version.ts';
import { LOCAL_ARCHIVE, packageNpm, UNPUBLISHED_NAME } from './npm-package.ts';

/** `npm run package`: packs the npm package for a project that uses it without a registry. */
const archive = await packageNpm({ npm: UNPUBLISHED_NAME, version: operatorVersion(), publisher }, 'dist');
renameSync(archive, LOCAL_ARCHIVE);
process.stdout.write(`${LOCAL_ARCHIVE}\n`);
