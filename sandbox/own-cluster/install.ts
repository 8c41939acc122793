import { join } from 'node:path';
import { writeChart } from '../../infra/helm/chart.ts';
import { getImageRepository, publisher } from '../../infra/settings/publisher.ts';
import { operatorVersion } from '../../infra/settings/version.ts';
import { chartName } from '../../runtime/contract.ts';
import { printerTo, type Printer } from '../demo/printer.ts';
import { runMain } from '../program.ts';
import { withFolder } from '../with-folder.ts';
import {
  createClusterProgram,
  findEngine,
  getClusterTools,
  readTarget,
  requireAgreement,
  runStep,
} from './commands.ts';
import { adviseOnImage, getImageCommands, getImageValues } from './image.ts';
import type { Target } from './target.ts';

interface Flags {
  readonly context?: string;
  readonly image?: string;
  readonly yes?: boolean;
  readonly wait: boolean;
}

const NAMESPACE = 'lumigo-system';
const RELEASE = 'lumigo';

/** `npm run cluster:install`: builds the image, loads it into the current cluster, and installs the chart there. */
const program = createClusterProgram(
  'cluster:install',
  'Builds the image, brings it to a kind or minikube cluster, and installs the operator with Helm',
)
  .option('--image <name:tag>', 'an image that is in a registry, instead of one that is built here')
  .option('--no-wait', 'do not wait until the pods of the operator are ready')
  .action(install);

async function install({ context, image, yes = false, wait }: Flags): Promise<void> {
  const printer = printerTo((text) => process.stdout.write(text), process.stdout.isTTY);
  const { kubectl, helm } = await getClusterTools(printer);
  const target = await readTarget(kubectl, context);
  printer.title(`Installing the Lumigo operator into the cluster of context '${target.context}'`);
  const own = `${getImageRepository('lumigo-kubernetes-operator', publisher)}:${operatorVersion()}`;
  if (target.kind === 'other' && image === undefined) throw new Error(adviseOnImage(target.context, own));
  const values = image === undefined ? [] : getImageValues(image);
  await requireAgreement(target, `This installs the operator into '${target.context}', namespace ${NAMESPACE}.`, yes);
  await withFolder(async (folder) => {
    if (image === undefined) await bringImage(target, own, join(folder, 'image.tar'), printer);
    const chart = join(folder, chartName);
    writeChart(chart);
    const title = `installing the chart with Helm as release '${RELEASE}' in namespace ${NAMESPACE}`;
    const place = [`--kube-context=${target.context}`, `--namespace=${NAMESPACE}`, '--create-namespace'];
    const options = [...values, ...(wait ? ['--wait', '--timeout=5m'] : [])];
    await runStep({ title, argv: [helm, 'upgrade', '--install', RELEASE, chart, ...place, ...options] }, printer);
  });
  printer.step(wait ? 'the operator is ready' : 'the operator is installed; its pods may still be starting');
  printer.text(['', 'Next: npm run cluster:sample', `Remove it: helm delete ${RELEASE} --namespace ${NAMESPACE}`]);
}

async function bringImage(target: Target, image: string, archive: string, printer: Printer): Promise<void> {
  for (const command of getImageCommands(await findEngine(), target, image, archive)) await runStep(command, printer);
}

await runMain(() => program.parseAsync());
