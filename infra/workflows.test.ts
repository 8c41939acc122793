import { describe, expect, it } from '@jest/globals';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The workflows call what is in this repository, and nothing of others that may change under them. */

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly 'timeout-minutes'?: number; readonly steps: readonly Step[] }>>;
}

const folder = join('.github', 'workflows');
const workflows = readdirSync(folder).map((name): [string, Workflow] => [
  name,
  parse(readFileSync(join(folder, name), 'utf8'), { strict: true }) as Workflow,
]);
const scripts = Object.keys((JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object }).scripts);

describe.each(workflows)('the workflow %s', (_name, { permissions, jobs }) => {
  const steps = Object.values(jobs).flatMap((job) => job.steps);

  it('pins each action to a commit', () => {
    const used = steps.flatMap(({ uses }) => uses ?? []);
    expect(used.filter((each) => !/^[\w-]+\/[-\w/]+@[0-9a-f]{40}$/.test(each))).toEqual([]);
  });

  it('may by default do no more than read, and ends at some time', () => {
    expect(permissions).toEqual({ contents: 'read' });
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  it('runs scripts that there are', () => {
    const commands = steps.flatMap(({ run }) => run ?? []).join('\n');
    const files = [...commands.matchAll(/(?<=^|\s)\.?[-\w]+\/[-\w./]+/g)].map(([file]) => file);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
    const named = [...commands.matchAll(/npm run (?:--silent |-s )?([-:\w]+)/g)].map(([, script = '']) => script);
    expect(named.filter((script) => !scripts.includes(script))).toEqual([]);
  });
});
