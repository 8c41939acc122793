import { readFileSync } from 'node:fs';
import { prerelease } from 'semver';
import { stringify } from 'yaml';
import { lumigo } from '../../runtime/contract.ts';
import { imageReference } from '../constructs/image.ts';
import type { Publisher } from '../settings/publisher.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';

const PREFIX = 'artifacthub.io/';

/** Returns the annotations of Chart.yaml that Artifact Hub reads. Lists are YAML texts. */
export function artifactHub(version: string, publisher: Publisher): Readonly<Record<string, string>> {
  const changes = changesIn(readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8'), version);
  const { signKey } = publisher.charts;
  const lists = {
    crds: [definition],
    crdsExamples: [example],
    images: images(parseSettings({})),
    links: links(publisher),
    changes,
  };
  const annotations = {
    license: 'Apache-2.0',
    category: 'monitoring-logging',
    operator: 'true',
    operatorCapabilities: 'Deep Insights',
    prerelease: String(prerelease(version) !== null),
    ...Object.fromEntries(
      Object.entries(lists).flatMap(([key, list]) =>
        list.length === 0 ? [] : [[key, stringify(list, { lineWidth: 0 })]],
      ),
    ),
    ...(signKey === undefined ? {} : { signKey: stringify(signKey) }),
  };
  return Object.fromEntries(Object.entries(annotations).map(([key, text]) => [`${PREFIX}${key}`, text]));
}

export const definition = {
  kind: lumigo.kind,
  version: lumigo.version,
  name: `${lumigo.plural}.${lumigo.group}`,
  displayName: 'Lumigo',
  description: 'Traces the workloads of its namespace.',
};

export const example = {
  apiVersion: lumigo.apiVersion,
  kind: lumigo.kind,
  metadata: { name: 'lumigo', namespace: 'my-namespace' },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } } },
};

/** Returns all images of an installation, beginning with the manager's. */
export function images(settings: Settings) {
  const { controllerManager, injectorWebhook, updater } = settings;
  const used = {
    manager: controllerManager.manager.image,
    'telemetry-proxy': controllerManager.telemetryProxy.image,
    injector: injectorWebhook.lumigoInjector.image,
    'node-exporter': settings.prometheusNodeExporter.image,
    'kube-state-metrics': settings.kubeStateMetrics.image,
    updater: updater.image,
  };
  return Object.entries(used).map(([name, image]) => ({ name, image: imageReference(image, settings.imagePrefix) }));
}

export const links = ({ home, docs }: Publisher) =>
  [
    { name: 'Documentation', url: docs },
    { name: 'Source', url: home },
  ].filter(({ url }) => url !== '');

const kinds = ['added', 'changed', 'deprecated', 'removed', 'fixed', 'security'];

/** Returns the section of a version in CHANGELOG.md, from its heading on, which may end with a date; empty if there is none. */
export const sectionOf = (changelog: string, version: string): string =>
  changelog.split(/^## /m).find((text) => text.split(/\s/, 1)[0]?.replace(/^\[|\]$/g, '') === version) ?? '';

/** Returns the entries of a version in CHANGELOG.md; none if it has no section. */
export function changesIn(changelog: string, version: string): { kind: string; description: string }[] {
  const section = sectionOf(changelog, version);
  return section.split(/^### /m).flatMap((text) => {
    const kind = text.split('\n', 1)[0]?.trim().toLowerCase() ?? '';
    if (!kinds.includes(kind)) return [];
    return [...text.matchAll(/^- (.*(?:\n {2}.*)*)/gm)].map(([, entry = '']) => ({
      kind,
      description: entry.replaceAll(/\s+/g, ' '),
    }));
  });
}
