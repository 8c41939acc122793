import { describe, expect, it } from '@jest/globals';
import { originalRelease } from '../../sandbox/original/recorded.ts';
import { synthesize } from '../operator.ts';
import { originalValues, getRefusals, getWarnings, withoutOriginal } from './original-values.ts';
import { parseSettings } from './settings.ts';

const { values } = originalRelease();

const getFieldPaths = (value: unknown, path = ''): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, child]) => getFieldPaths(child, path === '' ? key : `${path}.${key}`))
    : [path];

const nested = (path: string, value: unknown): object =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object;

/** Some values must have a certain form. */
const samples: Readonly<Record<string, unknown>> = {
  'debug.enabled': true,
  'controllerManager.manager.image.repository': 'registry.example/operator',
  'controllerManager.manager.image.tag': 'v69',
  'controllerManager.manager.resources': { limits: { memory: '1Gi' } },
  'controllerManager.telemetryProxy.image.tag': '69',
  'controllerManager.telemetryProxy.image.repository': 'registry.example/lumigo-kubernetes-telemetry-proxy',
  'controllerManager.telemetryProxy.resources': { limits: { memory: '1Gi' } },
  'injectorWebhook.lumigoInjector.image': { tag: 'v1' },
  'endpoint.otlp.url': 'https://lumigo.example',
  'endpoint.otlp.logs_url': 'https://logs.example',
  'endpoint.otlp.metrics_url': 'https://metrics.example',
  lumigoToken: { value: `t_${'1'.repeat(21)}` },
  monitoredNamespaces: [{ namespace: 'shop', loggingEnabled: true }],
  clusterCollection: { metrics: { enabled: true, frequency: '30s' }, logs: { enabled: true } },
  kubeStateMetrics: { install: false },
  'prometheusNodeExporter.image': { repository: 'registry.example/node-exporter' },
  'prometheusNodeExporter.resources': { limits: { memory: '1Gi' } },
  'logFileCollector.resources': { limits: { memory: '1Gi' } },
};

const getSample = (path: string): unknown => {
  if (path.startsWith('tolerations.')) return [{ operator: 'Exists' }];
  return path.startsWith('nodeSelector.') ? { pool: 'system' } : (samples[path] ?? 'other');
};

/** A part that is off has no objects in which a value could act. */
const parts = { clusterCollection: { metrics: { enabled: true }, logs: { enabled: true } } };

const rendered = (given: unknown) =>
  JSON.stringify(synthesize(parseSettings({ ...parts, ...(withoutOriginal(given) as object) }), 'Helm'));

describe('the values of the original [F51]', () => {
  const leaves = getFieldPaths(values);
  const paths = originalValues.map(({ path }) => path);
  const isIn = (path: string, leaf: string) => leaf === path || leaf.startsWith(`${path}.`);

  it('each have a row, or are part of one', () => {
    expect(leaves.filter((leaf) => !paths.some((path) => isIn(path, leaf)))).toEqual([]);
    expect(new Set(paths).size).toBe(paths.length);
  });

  it('have a row only if they exist, except two that only its templates use', () => {
    const others = paths.filter((path) => !leaves.some((leaf) => isIn(path, leaf)));
    expect(others).toEqual(['monitoredNamespaces', 'fullnameOverride']);
  });

  it.each(originalValues.flatMap((row) => ('acts' in row ? [row.path] : [])))('act: %s', (path) => {
    const given = nested(path, getSample(path));
    expect([...getWarnings(given), ...getRefusals(given)]).toEqual([]);
    expect(rendered(given)).not.toBe(rendered({}));
  });

  it.each(originalValues.flatMap((row) => ('warned' in row ? [[row.path, row.warned] as const] : [])))(
    'are named, and do nothing: %s',
    (path, advice) => {
      const given = nested(path, getSample(path));
      expect(getWarnings(given)).toEqual([`${path}: ${advice}`]);
      expect(rendered(given)).toBe(rendered({}));
      for (const empty of [null, {}]) expect(getWarnings(nested(path, empty))).toEqual([]);
    },
  );

  it('do not replace a value under the name of this operator', () => {
    expect(withoutOriginal({ name: 'own', fullnameOverride: 'former' })).toEqual({ name: 'own' });
    expect(withoutOriginal({ name: '', fullnameOverride: 'former' })).toEqual({ name: 'former' });
  });

  it.each(originalValues.flatMap((row) => ('refused' in row ? [row.path] : [])))('are refused: %s', (path) => {
    const given = nested(path, getSample(path));
    expect(getRefusals(given)).toEqual([expect.stringContaining(`${path} is "${String(getSample(path))}"`)]);
    for (const own of ['of-this-operator', 4711, 20261129]) expect(getRefusals(nested(path, own))).toEqual([]);
  });
});
