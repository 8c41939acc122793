import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, YamlOutputType } from 'cdk8s';
import { Command } from 'commander';
import { completeChart, scaffoldAround, type Scaffold } from './helm/scaffold.ts';
import { Operator } from './operator.ts';
import { getNotices } from './settings/notices.ts';
import { loadSettings, parseSettings, SettingsError, settingsVariable, type Settings } from './settings/settings.ts';

const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - lumigo-operator.k8s.yaml
`;

/**
 * `npm run synth [-- --output FOLDER]`: writes plain YAML. If the settings cannot be installed, it exits with 1 and writes nothing.
 * `cdk8s synth` runs it, too, but empties the folder first. With `--format helm` it writes the chart.
 */
function main(): number {
  const command = new Command('npm run synth').option('-o, --output <folder>', 'where to write', 'dist/manifests');
  const outdir = process.env['CDK8S_OUTDIR'] ?? command.parse().opts<{ output: string }>().output;
  const app = new App({ outdir, yamlOutputType: YamlOutputType.FILE_PER_CHART });
  const scaffold = scaffoldAround(app.outdir);
  try {
    const settings = scaffold === undefined ? writeManifests(app) : writeChart(scaffold);
    for (const notice of getNotices(settings)) process.stderr.write(`${notice}\n`);
    return 0;
  } catch (error) {
    if (scaffold !== undefined) rmSync(scaffold.folder, { recursive: true, force: true });
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

function writeManifests(app: App): Settings {
  const settings = loadSettings(process.env[settingsVariable], (warning) => process.stderr.write(`${warning}\n`));
  new Operator(app, 'lumigo-operator', { settings });
  app.synth();
  // Without an extension, neither `cdk8s synth --stdout` nor `kubectl apply -f` of the folder takes the file for a manifest.
  writeFileSync(join(app.outdir, 'Kustomization'), kustomization);
  // cdk8s does not show the standard output of an app.
  process.stdout.write(`${join(app.outdir, 'lumigo-operator.k8s.yaml')}\n`);
  return settings;
}

/** @throws SettingsError if a settings file is given, because it would have no effect */
function writeChart(scaffold: Scaffold): Settings {
  const file = process.env[settingsVariable] ?? '';
  if (file !== '') {
    const problem = `a chart gets its settings when it is installed. Unset ${settingsVariable}, and pass the file to \`helm install --values\``;
    throw new SettingsError([problem], `The settings file ${file}`);
  }
  completeChart(scaffold);
  return parseSettings({});
}

process.exitCode = main();
