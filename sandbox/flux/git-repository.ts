import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { run } from '../run.ts';

/** The configuration of this machine's user must not change commits. */
const identity = ['user.name=synthesizer', 'user.email=synthesizer@example.com', 'commit.gpgsign=false'];
const asThat = identity.flatMap((setting) => ['-c', setting]);

export class GitRepository {
  readonly tree: string;

  /** @param folder the served folder, which contains it as `clusters.git` */
  constructor(readonly folder: string) {
    this.tree = join(folder, 'tree');
    mkdirSync(this.tree, { recursive: true });
    const flags = ['--quiet', '--initial-branch=main', '--separate-git-dir', join(folder, 'clusters.git')];
    run('git', ['init', ...flags, this.tree]);
  }

  /** Writes YAML files into a folder. Keys are their names, and `undefined` deletes the file. */
  write(folder: string, objects: Readonly<Record<string, object | undefined>>): void {
    mkdirSync(join(this.tree, folder), { recursive: true });
    for (const [name, object] of Object.entries(objects)) {
      const file = join(this.tree, folder, `${name}.yaml`);
      if (object === undefined) rmSync(file);
      else writeFileSync(file, stringify(object));
    }
  }

  commit(message: string): string {
    this.#git('add', '--all');
    this.#git('commit', '--quiet', '--message', message);
    return this.#git('rev-parse', 'HEAD').trim();
  }

  #git = (...args: readonly string[]): string => run('git', ['-C', this.tree, ...asThat, ...args]);
}
