import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { App, Chart, Yaml } from 'cdk8s';
import { lumigo } from '../../runtime/contract.ts';
import { alertPage, alerts } from '../constructs/alerts.ts';
import { LumigoCrd } from '../constructs/lumigo-crd.ts';
import { alertRule, alertTable } from './alerts-reference.ts';
import { renderTracedNamespace } from '../constructs/traced-namespace.ts';
import { withGenerated } from './generated-parts.ts';
import { migrationTable } from './migration-reference.ts';
import { OLDEST_KUBERNETES } from '../helm/chart-texts.ts';
import { installWithHelm, quickInstallation, releaseStatus, withChart } from '../helm/installation-texts.ts';
import { describeKubernetes, triedTable } from './tried-versions.ts';
import { renderings, renderingsFolder } from './renderings.ts';
import { references } from './references.ts';

/** Writes the generated files that are committed. With `--check`, it writes nothing and exits with 1 if one of them is outdated. */

/** Texts by the path of a file, or by the name of a part. */
type Texts = Readonly<Record<string, string>>;

const root = fileURLToPath(new URL('../..', import.meta.url));
const definition = 'lumigo-crd.yaml';
const imported = `${lumigo.group}.ts`;

function generate(): Texts {
  const folder = mkdtempSync(join(tmpdir(), 'lumigo-import-'));
  try {
    const yaml = crdYaml();
    writeFileSync(join(folder, definition), yaml);
    importInto(folder);
    return {
      [join('imports', definition)]: yaml,
      [join('imports', imported)]: readFileSync(join(folder, imported), 'utf8'),
      [join('docs', 'start', 'first-steps.yaml')]: firstSteps(),
      ...Object.fromEntries(Object.entries(references).map(([file, page]) => [file, page()])),
      ...Object.fromEntries(Object.entries(pagesWithParts()).map(([file, parts]) => [file, renew(file, parts)])),
      ...renderings(),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const renew = (file: string, parts: Texts): string =>
  withChart(withGenerated(file, readFileSync(join(root, file), 'utf8'), parts));

const pagesWithParts = (): Readonly<Record<string, Texts>> => ({
  'README.md': {
    status: releaseStatus(),
    install: quickInstallation(),
    kubernetes: describeKubernetes(OLDEST_KUBERNETES),
  },
  'docs/install/helm.md': { helm: installWithHelm() },
  'docs/contributing/tested-versions.md': { tried: triedTable() },
  'docs/operate/monitoring.md': { alerts: alertTable() },
  ...Object.fromEntries(alerts.map((alert) => [`docs/${alertPage(alert.name)}`, { rule: alertRule(alert) }])),
  'docs/migrate-from-original.md': { values: migrationTable() },
  // Only the Helm commands of these pages are generated.
  'docs/install/private-registry.md': {},
  'docs/operate/updater.md': {},
  'docs/operate/upgrade.md': {},
});

/** `cdk8s import` works offline if it does not look for a newer cdk8s. */
function importInto(folder: string): void {
  const cli = join(createRequire(import.meta.url).resolve('cdk8s-cli/package.json'), '..', 'bin', 'cdk8s');
  const options = ['--language', 'typescript', '--output', folder, '--no-save', '--check-upgrade=false'];
  const run = spawnSync(process.execPath, [cli, 'import', definition, ...options], { encoding: 'utf8', cwd: folder });
  if (run.status !== 0) throw new Error(`cdk8s import failed: ${run.stderr}${run.stdout}`);
}

/** The page creates the namespace before. */
const firstSteps = (): string =>
  Yaml.stringify(...renderTracedNamespace({ namespace: 'first-steps', createNamespace: false }));

function crdYaml(): string {
  const app = new App();
  new LumigoCrd(new Chart(app, 'lumigo-crd'), 'crd');
  return app.synthYaml();
}

function write(generated: Texts): void {
  rmSync(join(root, renderingsFolder), { recursive: true, force: true });
  for (const [file, content] of Object.entries(generated)) {
    mkdirSync(join(root, file, '..'), { recursive: true });
    writeFileSync(join(root, file), content);
  }
}

const isCommitted = (file: string, content: string | undefined): boolean =>
  existsSync(join(root, file)) && readFileSync(join(root, file), 'utf8') === content;

const abandoned = (generated: Texts): readonly string[] =>
  readdirSync(join(root, renderingsFolder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .filter((file) => !(file in generated));

function main(): number {
  const generated = generate();
  if (!process.argv.includes('--check')) {
    write(generated);
    return 0;
  }
  const changed = Object.keys(generated).filter((file) => !isCommitted(file, generated[file]));
  const stale = [...changed, ...abandoned(generated)];
  if (stale.length === 0) return 0;
  process.stderr.write(
    `${stale.join(' and ')}: not what the sources generate any more; run \`npm run generate\` and commit the result.\n`,
  );
  return 1;
}

process.exitCode = main();
