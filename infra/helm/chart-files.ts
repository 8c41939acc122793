import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { chartName } from '../../runtime/contract.ts';
import { writeChart } from './chart.ts';
import { getNotices } from '../settings/notices.ts';
import { parseSettings } from '../settings/settings.ts';

/** `npm run chart [FOLDER]`: writes the Helm chart. Default: dist/chart. */
const [parent = 'dist/chart'] = process.argv.slice(2);
const folder = join(parent, chartName);
rmSync(folder, { recursive: true, force: true });
writeChart(folder);
process.stdout.write(`${folder}\n`);
for (const notice of getNotices(parseSettings({}))) process.stderr.write(`${notice}\n`);
