import { describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createMetrics } from '../../runtime/observability/metrics.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { publisher } from '../settings/publisher.ts';
import { parseSettings } from '../settings/settings.ts';
import { alertPage, alertRules, alerts } from './alerts.ts';
import { dashboard, panels } from './dashboard.ts';

const queries = [
  ...alerts.map(({ name, expr }) => [name, expr] as const),
  ...panels.flatMap(({ title, queries: own }) => own.map(([expr]) => [title, expr] as const)),
];

const known = createMetrics()
  .registry.getMetricsAsArray()
  .map(({ name }) => name);

const getObjects = (settings: object, kind: string): readonly Manifest[] =>
  synthesize(parseSettings(settings)).filter((each) => each.kind === kind);

describe('alerts and dashboard', () => {
  it.each(queries)('%s is about metrics that exist', (_title, expr) => {
    const asks = [...expr.matchAll(/lumigo_operator_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    expect(asks.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('are rendered only if the settings ask for them', () => {
    for (const kind of ['ServiceMonitor', 'PrometheusRule']) expect(getObjects({}, kind)).toEqual([]);
    const serviceMonitor = { enabled: true, labels: { release: 'p' } };
    const [monitor] = getObjects({ metrics: { serviceMonitor } }, 'ServiceMonitor');
    expect(monitor?.metadata.labels).toMatchObject({ release: 'p', 'app.kubernetes.io/component': 'metrics' });
  });

  it('tell the two targets of a pod apart, also if both are on the port of `metrics.secure`', () => {
    const given = { metrics: { secure: true, serviceMonitor: { enabled: true } } };
    const [monitor] = getObjects(given, 'ServiceMonitor');
    const relabelings = [{ sourceLabels: ['__metrics_path__'], targetLabel: 'metrics_path', action: 'replace' }];
    const endpoints = ['/metrics', '/metrics/telemetry-proxy'].map((path) => ({ path, relabelings }));
    expect(monitor?.['spec']).toMatchObject({ endpoints });
  });

  it('select the Services of their own installation, also after Argo CD set its label of the instance', () => {
    const given = { metrics: { serviceMonitor: { enabled: true } }, clusterCollection: { logs: { enabled: true } } };
    const [monitor] = getObjects(given, 'ServiceMonitor');
    const { selector } = monitor?.['spec'] as { selector: { matchLabels: object } };
    const selected = (settings: object) =>
      getObjects(settings, 'Service')
        .filter(({ metadata }) => {
          const labels: object = { ...metadata.labels, 'app.kubernetes.io/instance': 'argo-application' };
          return isDeepStrictEqual(labels, { ...labels, ...selector.matchLabels });
        })
        .map(({ metadata }) => metadata.name);
    expect(selected(given)).toEqual([
      'lumigo-lumigo-operator-controller-manager-metrics-service',
      'lumigo-lumigo-operator-node-collector',
    ]);
    expect(selected({ ...given, name: 'other' })).toEqual([]);
  });
});

describe('an alert', () => {
  it('has a page, and each page has an alert', () => {
    const pages = alerts.map(({ name }) => basename(alertPage(name)));
    expect(readdirSync('docs/operate/alerts').toSorted()).toEqual(pages.toSorted());
  });

  it.each(alerts.map(({ name }) => name))('%s has meaning, impact, diagnosis and mitigation on its page', (name) => {
    const page = readFileSync(`docs/${alertPage(name)}`, 'utf8');
    const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([name, 'Meaning', 'Impact', 'Diagnosis', 'Mitigation']);
    expect(page).toMatch(/## Diagnosis\n```sh\n/);
  });

  it('links to its page if the publisher has an address for the pages', () => {
    const linked = alertRules(alerts, { ...publisher, docs: 'https://acme.example/docs' });
    expect(linked[0]?.annotations.runbook_url).toBe(
      'https://acme.example/docs/operate/alerts/LumigoOperatorWithoutLeader.md',
    );
    expect(alertRules(alerts, { ...publisher, docs: '' })[0]?.annotations).not.toHaveProperty('runbook_url');
  });
});

describe('the dashboard', () => {
  it('explains each panel and names each of its series', () => {
    expect(panels.filter(({ description }) => !description.endsWith('.'))).toEqual([]);
    expect(panels.flatMap(({ queries: own }) => own).filter(([, legend]) => legend === '')).toEqual([]);
  });

  it('has a picture with each of its panels', () => {
    const picture = readFileSync('docs/operate/dashboard.svg', 'utf8');
    expect([...picture.matchAll(/font-weight="600">([^<]*)</g)].map(([, title]) => title)).toEqual(
      panels.map(({ title }) => title),
    );
  });

  it('shows in a legend only labels that its query keeps', () => {
    const lost = panels.flatMap(({ queries: own }) =>
      own.flatMap(([expr, legend]) => {
        const [, kept] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
        const shown = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
        return kept === undefined ? [] : shown.filter((label) => !kept.split(', ').includes(label));
      }),
    );
    expect(lost).toEqual([]);
  });

  it('lets you choose the data source, namespaces and pods, and uses each choice', () => {
    const { templating, panels: drawn } = dashboard() as { templating: { list: { name: string }[] }; panels: object[] };
    const names = templating.list.map(({ name }) => name);
    expect(names).toEqual(['datasource', 'namespace', 'pod']);
    for (const name of ['${datasource}', '$namespace', '$pod']) expect(JSON.stringify(drawn)).toContain(name);
    // All pods are those with the operator's own metrics. Any other would add its collector's spans.
    expect(templating.list.filter((variable) => 'allValue' in variable).map(({ name }) => name)).toEqual(['namespace']);
  });
});
