import { App, YamlOutputType } from 'cdk8s';
import { Operator } from './operator.ts';
import { loadSettings, SettingsError, settingsVariable } from './settings.ts';

/**
 * `cdk8s synth`: the installation as plain YAML, dist/lumigo-operator.k8s.yaml, for `kubectl apply` and GitOps. Settings
 * that cannot be installed end it with 1 before anything is written.
 */
function main(): number {
  try {
    const settings = loadSettings(process.env[settingsVariable]);
    const app = new App({ yamlOutputType: YamlOutputType.FILE_PER_CHART });
    new Operator(app, 'lumigo-operator', { settings });
    app.synth();
    return 0;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

process.exitCode = main();
