import { chartName } from '../../runtime/contract.ts';
import { getImageRepository, publisher as own, type Publisher } from '../settings/publisher.ts';
import { operatorVersion } from '../settings/version.ts';

const intoNamespace = '--namespace lumigo-system --create-namespace';

const block = (...lines: readonly string[]): string => ['```sh', ...lines, '```'].join('\n');

/** Returns how to install with Helm: from the publisher's repositories, or from a checkout if there are none. */
export function installWithHelm(publisher: Publisher = own): string {
  const published = publishedInstallation(publisher);
  if (published !== undefined) return published;
  const image = `${getImageRepository('lumigo-kubernetes-operator', publisher)}:${operatorVersion()}`;
  return [
    'No release is published yet, so build the image and the chart in a checkout. `podman build` and `buildah build` work like',
    '`docker build`.',
    '',
    block(`docker build -t ${image} .`, 'npm run chart'),
    '',
    'Bring the image to the nodes. kind and minikube load it from your machine:',
    '',
    block(`kind load docker-image ${image}`, `minikube image load ${image}`),
    '',
    'For any other cluster, push it to a registry and name it with `controllerManager.manager.image.repository`. Then install the chart:',
    '',
    block(`helm install lumigo dist/chart/${chartName} ${intoNamespace}`),
  ].join('\n');
}

export const quickInstallation = (publisher: Publisher = own): string =>
  publishedInstallation(publisher) ??
  [
    'In a clone of this repository, for a [kind](https://kind.sigs.k8s.io) or [minikube](https://minikube.sigs.k8s.io) cluster in your current context:',
    '',
    block('npm run cluster:install', 'npm run cluster:sample'),
    '',
    'The first command builds the image, loads it into the cluster and installs the chart with Helm. The second one traces a sample program in',
    'the namespace `lumigo-sample`. Set `LUMIGO_TRACER_TOKEN` to your token before, to see its traces in Lumigo.',
  ].join('\n');

export const releaseStatus = (publisher: Publisher = own): string => {
  const status = publishedInstallation(publisher)
    ? `**Status:** version ${operatorVersion()} is published at ${publisher.charts.oci || publisher.charts.index}.`
    : '**Status:** there is no release yet. Build the operator from source with [two commands](#install).';
  return `> ${status}\n> To see it at work on your machine, without a cluster, run \`npm start\` in a clone of this repository.`;
};

function publishedInstallation({ charts: { oci, index } }: Publisher): string | undefined {
  const ways = [
    oci !== '' && block(`helm install lumigo oci://${oci}/${chartName} ${intoNamespace}`),
    index !== '' && block(`helm repo add lumigo ${index}`, `helm install lumigo lumigo/${chartName} ${intoNamespace}`),
  ].filter((way) => way !== false);
  return ways.length === 0 ? undefined : ways.join('\n\nor\n\n');
}

/** Returns the chart for `helm upgrade`: its place in a registry, which needs no `helm repo add`, its name in a repository, or a folder. */
export function chartReference({ charts }: Publisher = own): string {
  if (charts.oci !== '') return `oci://${charts.oci}/${chartName}`;
  return charts.index === '' ? `dist/chart/${chartName}` : `lumigo/${chartName}`;
}

/** Returns a page whose Helm commands name the chart. If it is a folder, a command before each of them writes it. */
export const withChart = (page: string, chart = chartReference()): string =>
  page.replaceAll(
    /^(?:npm run chart\n)?(helm (?:upgrade|upgrade --install|template) lumigo) \S+/gm,
    `${chart.startsWith('dist/') ? 'npm run chart\n' : ''}$1 ${chart}`,
  );
