import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { render } from './render.ts';
import { collection, settings } from '../../sandbox/testing/arbitrary/telemetry-state.ts';
import type { Collection, ProxySettings } from './types.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';

let otelcol = '';
const folder = createTemporaryFolder();
beforeAll(async () => {
  otelcol = (await ensureBinaries(['otelcol']))['otelcol'] ?? '';
  for (const name of ['tokens', 'loop-key']) writeFileSync(join(folder, name), 'none');
});

function validate(given: ProxySettings, collected: Collection | undefined): string {
  const file = join(folder, 'collector.json');
  writeFileSync(file, serialize(render({ ...given, telemetryProxyDirectory: folder }, collected)));
  const { status, stderr } = spawnSync(otelcol, ['validate', `--config=${file}`], { encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

describe('otelcol validate', () => {
  it('accepts every configuration that can be rendered [D35]', () => {
    fc.assert(
      fc.property(settings, fc.option(collection, { nil: undefined }), (given, collected) => {
        expect(validate(given, collected)).toBe('');
      }),
      { numRuns: 50 },
    );
  });

  it('accepts a thousand namespaces, each with its own token', () => {
    const [given] = fc.sample(settings, 1);
    if (given === undefined) throw new Error('no sample');
    const namespaces = Array.from({ length: 1_000 }, (_, index) => ({
      name: `namespace-${index}`,
      token: `t_${index.toString(16).padStart(21, '0')}`,
      lumigo: `uid-${index}`,
      sends: ['events', 'logFiles'] as const,
    }));
    const initial = namespaces.map(({ name }) => name);
    expect(validate(given, { namespaces, initial, since: {}, key: 'key', nodeKey: 'node-key' })).toBe('');
  });

  it('refuses an invalid configuration, so that its consent is meaningful', () => {
    const [given] = fc.sample(settings, 1);
    if (given === undefined) throw new Error('no sample');
    expect(validate({ ...given, telemetryProxyQueueShardSize: '0' }, undefined)).toContain('queue_size');
  });
});
