import { lumigo, podModeKubernetes } from '../../runtime/contract.ts';
import type { Manifest } from '../constructs/manifest.ts';
import { definition, example, images, links } from '../helm/artifact-hub.ts';
import { description, keywords, OLDEST_KUBERNETES } from '../helm/chart-texts.ts';
import type { Publisher } from '../settings/publisher.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../settings/version.ts';

/** The name of the package in a catalog. */
export const packageName = 'lumigo-operator';

/** Returns the ClusterServiceVersion: what OLM shows in its catalog, and the Deployment and the account that it creates. */
export function clusterServiceVersion(
  objects: readonly Manifest[],
  settings: Settings,
  publisher: Publisher,
): Manifest {
  const version = operatorVersion();
  const deployments = objects.filter(({ kind }) => kind === 'Deployment');
  return {
    apiVersion: 'operators.coreos.com/v1alpha1',
    kind: 'ClusterServiceVersion',
    metadata: {
      name: `${packageName}.v${version}`,
      labels: Object.fromEntries(
        ['os.linux', 'arch.amd64', 'arch.arm64'].map((each) => [`operatorframework.io/${each}`, 'supported']),
      ),
      annotations: {
        'alm-examples': JSON.stringify([example]),
        capabilities: 'Deep Insights',
        categories: 'Monitoring, Logging & Tracing',
        containerImage: images(settings)[0]?.image ?? '',
        description,
        // An upgrade from any older version needs no step in between.
        'olm.skipRange': `<${version}`,
        'operatorframework.io/suggested-namespace': settings.namespace,
        ...(publisher.home === '' ? {} : { repository: publisher.home }),
      },
    },
    spec: {
      displayName: 'Lumigo',
      description: `${description}\n\n${toApplyFirst}`,
      version,
      minKubeVersion: settings.injection.podMode ? `1.${podModeKubernetes}.0` : `${OLDEST_KUBERNETES}.0`,
      maturity: 'alpha',
      keywords,
      maintainers: publisher.maintainers.map(({ name, email }) => ({ name, email })),
      provider: publisher.maintainers.map(({ name, url }) => ({ name, url }))[0] ?? {},
      links: links(publisher),
      customresourcedefinitions: { owned: [definition] },
      installModes: ['OwnNamespace', 'SingleNamespace', 'MultiNamespace', 'AllNamespaces'].map((type) => ({
        type,
        supported: type === 'AllNamespaces',
      })),
      install: {
        strategy: 'deployment',
        spec: {
          clusterPermissions: deployments.map((each) => getClusterPermission(getAccount(each), objects)),
          deployments: deployments.map(({ metadata: { name, labels }, spec }) => ({ name, label: labels, spec })),
        },
      },
      relatedImages: images(settings).filter(({ name }) => name !== 'updater'),
    },
  };
}

const toApplyFirst =
  'OLM cannot create the webhook and the admission policies. Before you install or upgrade, apply `apply-first.yaml`, which was written with this bundle. ' +
  `Then create a Secret with a token and a \`${lumigo.kind}\` resource in each namespace that you want to trace.`;

/** OLM creates each account that has a permission, so a bundle may not have it as an object. */
export const getAccount = ({ spec }: Manifest): string =>
  (spec as { readonly template: { readonly spec: { readonly serviceAccountName: string } } }).template.spec
    .serviceAccountName;

/** Returns the rights in the whole cluster only: OLM copies those of a namespace into a ClusterRole (ADR 47). */
function getClusterPermission(serviceAccountName: string, objects: readonly Manifest[]) {
  const isGranted = ({ kind, subjects }: Manifest) =>
    kind === 'ClusterRoleBinding' &&
    (subjects as readonly { readonly name: string }[]).some(({ name }) => name === serviceAccountName);
  const roles = objects.filter(isGranted).map(({ roleRef }) => (roleRef as { readonly name: string }).name);
  const rules = objects
    .filter(({ kind, metadata }) => kind === 'ClusterRole' && roles.includes(metadata.name))
    .flatMap((role) => role['rules'] as readonly object[]);
  return { serviceAccountName, rules };
}
