import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageReference } from '../../../infra/constructs/image.ts';
import { parseSettings } from '../../../infra/settings/settings.ts';
import { ensureBinaries } from '../../programs/build.ts';
import { repository, type Recipe } from '../recipes.ts';

const folder = 'sandbox/images/node-exporter';

/** Not in recipes.ts, because the digests of other images have the text of that file. */
export const nodeExporter: Recipe = {
  name: imageReference(parseSettings({}, 'The sandbox').prometheusNodeExporter.image),
  dockerfile: join(repository, folder, 'Dockerfile'),
  sources: ['sandbox/programs/node-exporter', folder],
  pins: [],
  prepare: async (context, progress) => {
    const { 'node-exporter': program = '' } = await ensureBinaries(['node-exporter'], progress);
    copyFileSync(program, join(context, 'node_exporter'));
  },
};
