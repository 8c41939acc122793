import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { steps as releaseSteps } from '../release/steps.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: string | readonly string[];
  /** Another workflow in place of steps. */
  readonly uses?: string;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: object;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const folder = join('.github', 'workflows');
const workflows = readdirSync(folder).map((name): [string, Workflow] => [
  name,
  parse(readFileSync(join(folder, name), 'utf8'), { strict: true }) as Workflow,
]);
const scripts = Object.keys((JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }).scripts);

const unpinned = (steps: readonly Step[] = []): string[] =>
  steps.flatMap(({ uses }) => uses ?? []).filter((each) => !/^([\w-]+\/[-\w/]+@[0-9a-f]{40}|\.\/.*)$/.test(each));

it('the action of this repository pins each action to a commit', () => {
  const { runs } = parse(readFileSync('.github/actions/prepare/action.yml', 'utf8'), { strict: true }) as { runs: Job };
  expect(runs.steps?.length).toBeGreaterThan(1);
  expect(unpinned(runs.steps)).toEqual([]);
});

describe('the workflow of a change', () => {
  it('has one job that requires all others, for the protection of the branch', () => {
    const { required, ...others } = new Map(workflows).get('ci.yml')?.jobs ?? {};
    expect(required?.needs).toEqual(Object.keys(others));
    expect(required).toMatchObject({ if: 'always()' });
  });
});

describe.each(workflows)('the workflow %s', (_name, { permissions, jobs }) => {
  const own = Object.values(jobs).filter(({ uses }) => uses === undefined);
  const steps = own.flatMap((job) => job.steps ?? []);

  it('pins each action to a commit', () => {
    expect(unpinned(steps)).toEqual([]);
  });

  it('may only read by default, and has a time limit', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of own) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  it('runs scripts that exist', () => {
    const commands = steps.flatMap(({ run }) => run ?? []).join('\n');
    const files = [...commands.matchAll(/(?<=^|\s)\.?[-\w]+\/[-\w./]+/g)].map(([file]) => file);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !file.startsWith('dist/') && !existsSync(file))).toEqual([]);
    const named = [...commands.matchAll(/npm run (?:--silent |-s )?([-:\w]+)/g)].map(([, script = '']) => script);
    expect(named.filter((script) => !scripts.includes(script))).toEqual([]);
  });

  it('passes untrusted text to its shells only through the environment', () => {
    // An expression in a script becomes code; in the environment it stays text.
    expect(steps.filter(({ run }) => run?.includes('${{'))).toEqual([]);
  });
});

describe('the workflow of a release [F52]', () => {
  const release = new Map(workflows).get('release.yml');
  const { test, release: job } = release?.jobs ?? {};
  const given = job?.steps ?? [];
  const commands = given.map(({ run = '' }) => run);
  const first = (what: RegExp): number => commands.findIndex((command) => what.test(command));

  it('tests first, and has only the rights that it needs', () => {
    expect(job?.needs).toBe('test');
    expect(test).toEqual({ uses: './.github/workflows/ci.yml' });
    expect(new Map(workflows).get('ci.yml')?.on).toHaveProperty('workflow_call');
    expect(job?.permissions).toEqual({ contents: 'write', packages: 'write', 'id-token': 'write' });
  });

  it('runs every step of the release, in order', () => {
    const run = commands.flatMap(
      (command) => /npm run release -- ([ \w]+)/.exec(command)?.[1]?.trim().split(' ') ?? [],
    );
    expect(run).toEqual(releaseSteps.map(({ name }) => name));
  });

  it('announces nothing before all is verified, and pushes nothing that Artifact Hub rejects', () => {
    expect(first(/ah lint/)).toBeGreaterThan(0);
    expect(first(/ah lint/)).toBeLessThan(first(/release -- push/));
    for (const announcement of [/gh release create/, /git push/, /npm publish/])
      expect(first(announcement)).toBeGreaterThan(first(/release -- .*verify/));
  });

  it('announces again after a failure, and needs the branch of the index before', () => {
    expect(commands[first(/gh release/)]).toMatch(
      /git clone [^]*gh release create .*\|\|\s+gh release upload .*--clobber[^]*gh release edit .*--draft=false/,
    );
  });

  it('gives a secret only to the step that needs it', () => {
    const secret = (step: Step): boolean => /secrets\.|github\.token/.test(JSON.stringify(step));
    const told = given.filter(secret).map(({ env }) => Object.keys(env ?? {}));
    expect(told).toEqual([['KEYRING', 'KEY'], ['PASSWORD', 'NAME'], ['GH_TOKEN']]);
  });
});
