import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, YamlOutputType } from 'cdk8s';
import { Operator } from './operator.ts';
import { loadSettings, SettingsError, settingsVariable } from './settings.ts';

/** For `kubectl apply -k`, for Flux, and for whoever patches the manifests with an overlay of his own. */
const kustomization = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - lumigo-operator.k8s.yaml
`;

/**
 * `cdk8s synth`: the installation as plain YAML, lumigo-operator.k8s.yaml, for `kubectl apply` and GitOps. Settings
 * that cannot be installed end it with 1 before anything is written.
 */
function main(): number {
  try {
    const settings = loadSettings(process.env[settingsVariable]);
    const app = new App({ yamlOutputType: YamlOutputType.FILE_PER_CHART });
    new Operator(app, 'lumigo-operator', { settings });
    app.synth();
    writeFileSync(join(app.outdir, 'kustomization.yaml'), kustomization);
    return 0;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
}

process.exitCode = main();
