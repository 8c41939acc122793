import { chartName } from '../../runtime/contract.ts';
import { imageRepositoryOf, publisher as own, type Publisher } from '../publisher.ts';
import { operatorVersion } from '../version.ts';

const intoNamespace = '--namespace lumigo-system --create-namespace';

const block = (...lines: readonly string[]): string => ['```sh', ...lines, '```'].join('\n');

/** How to install with Helm from where the chart is published, or from a checkout where that is nowhere. */
export function installWithHelm(publisher: Publisher = own): string {
  const { oci, index } = publisher.charts;
  const image = `${imageRepositoryOf('lumigo-kubernetes-operator', publisher)}:${operatorVersion()}`;
  const parts = [
    oci === '' ? [] : [block(`helm install lumigo oci://${oci}/${chartName} ${intoNamespace}`)],
    index === ''
      ? []
      : [block(`helm repo add lumigo ${index}`, `helm install lumigo lumigo/${chartName} ${intoNamespace}`)],
  ].flat();
  if (parts.length > 0) return parts.join('\n\nor\n\n');
  return [
    'This build is in no chart repository and its images are in no registry, so make both in a checkout (`buildah build` does for',
    '`docker build`), and bring the image to the nodes: `kind load docker-image`, `minikube image load`, or a registry of yours, which',
    '`controllerManager.manager.image.repository` then names.',
    '',
    block(
      `docker build -t ${image} .`,
      'npm run chart',
      `helm install lumigo dist/chart/${chartName} ${intoNamespace}`,
    ),
  ].join('\n');
}

/** What `helm upgrade` takes: the chart by its name there, or the folder. */
export function chartReference({ charts }: Publisher = own): string {
  if (charts.index !== '') return `lumigo/${chartName}`;
  return charts.oci === '' ? `dist/chart/${chartName}` : `oci://${charts.oci}/${chartName}`;
}
