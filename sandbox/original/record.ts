import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { ensureBinaries } from '../programs/build.ts';
import type { Manifest } from '../../infra/manifest.ts';
import { recordedFile, recordedVersion, type RecordedRelease } from './recorded.ts';

/**
 * `tsx sandbox/original/record.ts FOLDER`: records what the original operator's own chart installs, from a folder with that chart
 * as its repository has it (its dependency in `charts/`). The objects are kept, what is written in them for people and what runs in
 * them is not: descriptions, programs' configurations, shell scripts and keys.
 */
async function main([folder]: readonly string[]): Promise<void> {
  if (folder === undefined) throw new Error('Which chart? Name the folder of the original one.');
  const copy = mkdtempSync(join(tmpdir(), 'lumigo-original-'));
  try {
    cpSync(folder, copy, { recursive: true });
    const values = asReleased(copy);
    const helm = (await ensureBinaries(['helm']))['helm'] ?? '';
    const objects = render(helm, copy);
    const isHook = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] !== undefined;
    const release: RecordedRelease = {
      values,
      objects: objects.filter((object) => !isHook(object)),
      hooks: objects.filter(isHook),
    };
    writeFileSync(recordedFile, `${JSON.stringify(release, undefined, 1)}\n`);
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Its repository has placeholders for its version and its images, which a release of it fills in. */
function asReleased(folder: string): RecordedRelease['values'] {
  const edit = (name: string, change: (content: Tree) => void): Tree => {
    const path = join(folder, name);
    const content = parse(readFileSync(path, 'utf8')) as Tree;
    change(content);
    writeFileSync(path, stringify(content));
    return content;
  };
  edit('Chart.yaml', (chart) => Object.assign(chart, { version: recordedVersion, appVersion: recordedVersion }));
  return edit('values.yaml', (values) => {
    for (const [path, image] of Object.entries(images)) {
      const owner = path.split('.').reduce((at, key) => at[key] as Tree, values);
      owner['image'] = { repository: `public.ecr.aws/lumigo/${image}`, tag: recordedVersion };
    }
  });
}

type Tree = Record<string, unknown>;

const images: Readonly<Record<string, string>> = {
  'controllerManager.manager': 'lumigo-kubernetes-operator',
  'controllerManager.telemetryProxy': 'lumigo-kubernetes-telemetry-proxy',
  'controllerManager.kubeRbacProxy': 'lumigo-kubernetes-rbac-proxy',
  telemetryProxy: 'lumigo-kubernetes-telemetry-proxy',
  watchdog: 'lumigo-kubernetes-watchdog',
};

/** With all that its values can bring. */
const given = {
  lumigoToken: { value: `t_${'0'.repeat(21)}` },
  monitoredNamespaces: [{ namespace: 'bank' }],
  clusterCollection: { logs: { enabled: true } },
};

function render(helm: string, folder: string): Manifest[] {
  const args = ['template', 'lumigo', folder, '--namespace', 'lumigo-system', '--values', '-'];
  const { status, stdout, stderr } = spawnSync(helm, args, { encoding: 'utf8', input: stringify(given) });
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((each) => each !== null)
    .map(cleaned);
}

const without = 'recorded without';

/** An object without the texts that are not kept. */
function cleaned(object: Manifest): Manifest {
  const { data } = object as Manifest & { data?: Readonly<Record<string, unknown>> };
  const text = object.kind === 'Secret' ? Buffer.from(without).toString('base64') : without;
  // What a template has folded wrongly is no key.
  const keys = Object.keys(data ?? {}).filter((key) => /^[-.\w]+$/.test(key));
  const kept = withoutTexts(object) as Manifest;
  return data === undefined ? kept : { ...kept, data: Object.fromEntries(keys.map((key) => [key, text])) };
}

function withoutTexts(value: unknown, key = ''): unknown {
  if (key === 'caBundle') return '';
  if (key === 'command' && String(value).includes('\n')) return ['true'];
  if (Array.isArray(value)) return value.map((item: unknown) => withoutTexts(item));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name, text]) => name !== 'description' || typeof text !== 'string');
  return Object.fromEntries(entries.map(([name, child]) => [name, withoutTexts(child, name)]));
}

await main(process.argv.slice(2));
