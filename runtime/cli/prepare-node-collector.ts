import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeCollectorKinds } from '../config/config.ts';
import { readConfiguration } from '../config/document.ts';
import { mounts, nodeCollectorFiles, nodeVariables } from '../contract.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { renderNodeCollector } from '../node-collector/render.ts';
import type { Invocation } from './invocation.ts';

/** The init container of a node's collector runs this. */
export function run({ environment }: Invocation): Promise<void> {
  const config = readConfiguration(nodeCollectorKinds, environment);
  const { [nodeVariables.name]: name = '', [nodeVariables.address]: address = '' } = environment;
  const file = join(mounts.nodeCollectorConfiguration, nodeCollectorFiles.configuration);
  writeFileSync(file, serialize(renderNodeCollector(config, { name, address })));
  return Promise.resolve();
}
