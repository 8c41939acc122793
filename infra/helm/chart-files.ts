import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { chartName } from '../../runtime/contract.ts';
import { writeChart } from './chart.ts';
import { getNotices } from '../settings/notices.ts';
import { parseSettings } from '../settings/settings.ts';

/** `npm run chart`: writes the Helm chart. */
const folder = join('dist', 'chart', chartName);
rmSync(folder, { recursive: true, force: true });
writeChart(folder);
process.stdout.write(`${folder}\n`);
for (const notice of getNotices(parseSettings({}))) process.stderr.write(`${notice}\n`);
