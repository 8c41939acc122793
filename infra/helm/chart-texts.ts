import { chartName } from '../../runtime/contract.ts';
import { artifactHub } from './artifact-hub.ts';
import { chartReference, installWithHelm } from './installation-texts.ts';
import { publisher as own, type Publisher } from '../settings/publisher.ts';
import { settingsTables } from '../settings/settings-reference.ts';
import { operatorVersion } from '../settings/version.ts';
import { chartDefaults, ofTheRelease } from './values.ts';

export const description = 'Traces all Python and Node.js programs of a namespace without code changes.';

export const keywords = ['tracing', 'opentelemetry', 'lumigo', 'observability'];

/** The oldest Kubernetes version that Helm installs the chart on. */
export const OLDEST_KUBERNETES = '1.30';

export const chartMetadata = (publisher: Publisher = own, version = operatorVersion()) => ({
  apiVersion: 'v2',
  name: chartName,
  description,
  type: 'application',
  version,
  appVersion: operatorVersion(),
  kubeVersion: `>=${OLDEST_KUBERNETES}.0-0`,
  ...origin(publisher),
  keywords,
  annotations: artifactHub(version, publisher),
});

const origin = ({ home, maintainers }: Publisher) => ({
  ...(home === '' ? {} : { home, sources: [home] }),
  ...(maintainers.length === 0 ? {} : { maintainers }),
});

export const chartReadme = (): string => `# Lumigo Kubernetes operator

${description}

${installWithHelm()}

Then create a Secret with your [Lumigo token](https://docs.lumigo.io/docs/lumigo-tokens) and a \`Lumigo\` resource in each namespace
that you want to trace. The notes of the installation show the commands.

\`\`\`sh
helm upgrade lumigo ${chartReference()} --namespace lumigo-system --reset-then-reuse-values
helm delete lumigo --namespace lumigo-system
\`\`\`

An upgrade changes the operator, but no workload. Before a release is deleted, the operator removes the instrumentation from every
namespace.

## Values

${settingsTables('###', (path) => path !== 'name' && !ofTheRelease.includes(path), { 'updater.mode': chartDefaults.updater.mode })}
`;
