import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { synthesize } from './manifests.ts';
import { parseSettings } from './settings.ts';

/** `cdk8s synth` as a person runs it: a process of its own. */

const root = fileURLToPath(new URL('..', import.meta.url));
const cli = join(dirname(createRequire(import.meta.url).resolve('cdk8s-cli/package.json')), 'bin', 'cdk8s');
const TIMEOUT_MS = 60_000;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'lumigo-synth-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function synth(
  output: string,
  settings = '',
): { status: number | null; stderr: string; files: Record<string, string> } {
  const out = join(folder, output);
  const run = spawnSync(process.execPath, [cli, 'synth', '--check-upgrade=false', '--output', out], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, LUMIGO_SETTINGS: settings, NODE_OPTIONS: '' },
  });
  const names = existsSync(out) ? readdirSync(out) : [];
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(out, name), 'utf8')]));
  return { status: run.status, stderr: run.stderr, files };
}

describe('cdk8s synth', () => {
  it(
    'writes the same bytes each time',
    () => {
      const first = synth('first');
      expect([first.status, first.stderr]).toEqual([0, '']);
      expect(Object.keys(first.files)).toEqual(['kustomization.yaml', 'lumigo-operator.k8s.yaml']);
      expect(synth('second').files).toEqual(first.files);
    },
    TIMEOUT_MS,
  );

  it(
    'writes what synthesize gives, with the settings of the file that LUMIGO_SETTINGS names',
    () => {
      const settings = { namespace: 'observability', monitoredNamespaces: [{ namespace: 'shop' }] };
      const file = join(folder, 'settings.json');
      writeFileSync(file, JSON.stringify(settings));
      const written = synth('with-settings', file).files['lumigo-operator.k8s.yaml'] ?? '';
      const documents = parseAllDocuments(written).map((document) => document.toJS() as unknown);
      expect(documents).toEqual(synthesize(parseSettings(settings)));
    },
    TIMEOUT_MS,
  );

  it(
    'writes nothing with settings that cannot be used, says all that is wrong, and fails',
    () => {
      const file = join(folder, 'wrong.yaml');
      writeFileSync(file, 'replicas: 3\nplatform: eks\n');
      const { status, stderr, files } = synth('wrong', file);
      expect(status).toBe(1);
      expect(stderr).toContain(
        `The settings file ${file} cannot be used:\n` +
          '  - platform must be one of auto, kubernetes, openshift, but is "eks"\n' +
          '  - replicas is not a setting; did you mean controllerManager.replicas?\n',
      );
      expect(files).toEqual({});
    },
    TIMEOUT_MS,
  );
});

describe('what is generated', () => {
  it(
    'is what is committed',
    () => {
      const run = spawnSync(process.execPath, ['--import', 'tsx', 'infra/import.ts', '--check'], {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, NODE_OPTIONS: '' },
      });
      expect([run.status, run.stderr]).toEqual([0, '']);
    },
    TIMEOUT_MS,
  );
});

describe('synthesize', () => {
  it('gives objects in the order in which to apply them', () => {
    const kinds = synthesize(parseSettings({ monitoredNamespaces: [{ namespace: 'shop' }] })).map(({ kind }) => kind);
    const order = (kind: string): number => kinds.indexOf(kind);
    expect(order('Namespace')).toBe(0);
    expect(order('CustomResourceDefinition')).toBe(1);
    for (const needed of ['ServiceAccount', 'ConfigMap', 'PriorityClass'])
      expect(order(needed)).toBeLessThan(order('Deployment'));
    expect(order('MutatingWebhookConfiguration')).toBeGreaterThan(order('Deployment'));
    expect(kinds.at(-1)).toBe('Lumigo');
  });

  it('leaves the namespace out where it exists already', () => {
    const kinds = synthesize(parseSettings({ createNamespace: false })).map(({ kind }) => kind);
    expect(kinds).not.toContain('Namespace');
  });
});
