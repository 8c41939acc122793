import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeCollectorConfig } from '../../infra/constructs/node-collector-pod.ts';
import { largeQuantity, metricPattern, namePattern } from '../../infra/settings/leaves.ts';
import { parseSettings } from '../../infra/settings/settings.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { collection, settings } from '../../sandbox/testing/arbitrary/telemetry-state.ts';
import { createTemporaryFolder } from '../../sandbox/testing/temporary-folder.ts';
import type { NodeCollectorConfig } from '../config/config.ts';
import { mounts } from '../contract.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { essentialMetrics } from '../node-collector/essential-metrics.ts';
import { renderNodeCollector } from '../node-collector/render.ts';
import { render } from './render.ts';
import type { Collection, ProxySettings } from './types.ts';

let otelcol = '';
const folder = createTemporaryFolder();
beforeAll(async () => {
  otelcol = (await ensureBinaries(['otelcol']))['otelcol'] ?? '';
  for (const name of ['tokens', 'loop-key', 'token']) writeFileSync(join(folder, name), 'none');
});

function validateText(text: string): string {
  const file = join(folder, 'collector.json');
  writeFileSync(file, text);
  const { status, stderr } = spawnSync(otelcol, ['validate', `--config=${file}`], { encoding: 'utf8' });
  return status === 0 ? '' : stderr;
}

const validate = (given: ProxySettings, collected?: Collection): string =>
  validateText(serialize(render({ ...given, telemetryProxyDirectory: folder }, collected)));

const sampleSettings = (): ProxySettings => fc.sample(settings, 1)[0] as ProxySettings;

describe('otelcol validate, for the telemetry proxy', () => {
  it('accepts every configuration that can be rendered [D35]', () => {
    fc.assert(
      fc.property(settings, fc.option(collection, { nil: undefined }), (given, collected) => {
        expect(validate(given, collected)).toBe('');
      }),
      { numRuns: 50 },
    );
  });

  it('refuses an invalid configuration, so that its consent is meaningful', () => {
    expect(validate({ ...sampleSettings(), telemetryProxyQueueShardSize: '0' })).toContain('queue_size');
  });
});

function validateOnNode(config: NodeCollectorConfig, address: string): string {
  const text = serialize(renderNodeCollector(config, { name: 'worker-1', address }));
  // These exist only in the pod.
  const inPod = [mounts.nodeCollectorState, mounts.serviceAccount];
  return validateText(inPod.reduce((given, path) => given.replaceAll(path, folder), text));
}

const accepted = (pattern: { safeParse: (value: string) => { success: boolean } }, form: RegExp) =>
  fc.stringMatching(form).filter((text) => pattern.safeParse(text).success);
const names = accepted(namePattern(), /^[-.a-z0-9*?]{1,20}$/);
const logFiles = fc.array(
  fc.record({ namespacePattern: names, podPattern: names, containerPattern: names }, { requiredKeys: [] }),
  { maxLength: 3 },
);

const configs: fc.Arbitrary<NodeCollectorConfig> = fc
  .record({
    logLevel: fc.constantFrom('info', 'debug'),
    metricsSecure: fc.boolean(),
    logs: fc.boolean(),
    logsInclude: logFiles,
    logsExclude: logFiles,
    metrics: fc.boolean(),
    essentialOnly: fc.boolean(),
    essentialMetrics: fc.array(accepted(metricPattern(), /^[a-z_:][a-zA-Z0-9_:.*+]{0,20}$/), { minLength: 1 }),
    metricsFrequency: fc.constantFrom('1s', '15s', '5m'),
    queueSize: accepted(largeQuantity(), /^[1-9][0-9]{0,3}(\.[0-9])?(k|Ki|[MGT]i?)?$/),
  })
  .filter(({ logs, metrics }) => logs || metrics)
  .map((changed) => ({ ...nodeCollectorConfig(parseSettings({})), podName: 'pod', ...changed }));

describe('otelcol validate, for the collector of a node', () => {
  it('accepts every configuration of a node that the settings can ask for', () => {
    fc.assert(
      fc.property(configs, fc.constantFrom('10.0.0.5', 'fd00::5'), (config, address) => {
        expect(validateOnNode(config, address)).toBe('');
      }),
      { numRuns: 15 },
    );
  });

  it('refuses an invalid configuration, so that its consent is meaningful', () => {
    const [config] = fc.sample(configs, 1);
    if (config === undefined) throw new Error('no sample');
    const wrong = { ...config, metrics: true, essentialOnly: true, essentialMetrics: [...essentialMetrics, '('] };
    expect(validateOnNode(wrong, '10.0.0.5')).toContain('regex');
  });
});
