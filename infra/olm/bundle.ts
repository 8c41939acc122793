import { stringify } from 'yaml';
import type { Manifest } from '../constructs/manifest.ts';
import { synthesize } from '../operator.ts';
import { publisher as own, type Publisher } from '../settings/publisher.ts';
import type { Settings } from '../settings/schema.ts';
import { clusterServiceVersion, getAccount, packageName } from './cluster-service-version.ts';

/** The kinds of our objects that a bundle may have, by operator-registry's `supported_resources.go`. The Deployment is in the CSV. */
const ofBundle = [
  'CustomResourceDefinition',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
  'Service',
  'ConfigMap',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'PriorityClass',
  'PrometheusRule',
  'ServiceMonitor',
];

/** The labels of the bundle's image, which `metadata/annotations.yaml` repeats. */
const annotations = Object.fromEntries(
  Object.entries({
    'mediatype.v1': 'registry+v1',
    'manifests.v1': 'manifests/',
    'metadata.v1': 'metadata/',
    'package.v1': packageName,
    'channels.v1': 'alpha',
    'channel.default.v1': 'alpha',
  }).map(([key, value]) => [`operators.operatorframework.io.bundle.${key}`, value]),
);

const image = [
  'FROM scratch',
  ...Object.entries(annotations).map(([key, value]) => `LABEL ${key}=${value}`),
  'COPY manifests /manifests/',
  'COPY metadata /metadata/',
  '',
].join('\n');

/** Returns the settings without the updater, because OLM upgrades, and without the namespace, which exists before. */
export const toBundled = (settings: Settings): Settings => ({
  ...settings,
  updater: { ...settings.updater, mode: 'off' },
  createNamespace: false,
});

/**
 * Returns the files of the OLM bundle by path: the construct tree, divided.
 * `apply-first.yaml` has the objects that OLM does not create. A cluster administrator applies it.
 * @throws SettingsError if a bundle cannot carry out a setting
 */
export function bundleFiles(settings: Settings, publisher: Publisher = own): Readonly<Record<string, string>> {
  const objects = synthesize(toBundled(settings), 'OLM');
  const accounts = objects.filter(({ kind }) => kind === 'Deployment').map(getAccount);
  const isAccount = ({ kind, metadata }: Manifest) => kind === 'ServiceAccount' && accounts.includes(metadata.name);
  const bundled = objects.filter((each) => ofBundle.includes(each.kind) && !isAccount(each)).map(withoutNamespace);
  const first = objects.filter(({ kind }) => !ofBundle.includes(kind) && kind !== 'Deployment');
  const manifests = [clusterServiceVersion(objects, settings, publisher), ...bundled];
  return {
    ...Object.fromEntries(manifests.map((each) => [`manifests/${toFile(each)}`, write(each)])),
    'metadata/annotations.yaml': write({ annotations }),
    'bundle.Dockerfile': image,
    'apply-first.yaml': first.map(write).join('---\n'),
  };
}

const write = (object: object): string => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });

const toFile = ({ kind, metadata }: Manifest): string => `${kind.toLowerCase()}.${metadata.name}.yaml`;

/** OLM sets the namespace of the installation. */
function withoutNamespace(object: Manifest): Manifest {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
