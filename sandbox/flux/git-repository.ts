import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from '../run.ts';

/** Nothing of this machine's user decides what a commit is. */
const identity = ['user.name=synthesizer', 'user.email=synthesizer@example.com', 'commit.gpgsign=false'];
const asThat = identity.flatMap((setting) => ['-c', setting]);

/** A git repository with one branch, and a working tree that is committed whole. */
export class GitRepository {
  readonly tree: string;

  /** @param folder what serves it: the folder that it is in as `clusters.git` */
  constructor(readonly folder: string) {
    this.tree = join(folder, 'tree');
    mkdirSync(this.tree, { recursive: true });
    const flags = ['--quiet', '--initial-branch=main', '--separate-git-dir', join(folder, 'clusters.git')];
    run('git', ['init', ...flags, this.tree]);
  }

  /** Writes files, or (undefined) removes them, whole folders too. */
  write(files: Readonly<Record<string, string | undefined>>): void {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.tree, path);
      if (text === undefined) rmSync(file, { recursive: true });
      else {
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text);
      }
    }
  }

  /** Commits whatever the working tree has; gives back the commit's name. */
  commit(message: string): string {
    this.#git('add', '--all');
    this.#git('commit', '--quiet', '--message', message);
    return this.#git('rev-parse', 'HEAD').trim();
  }

  #git = (...args: readonly string[]): string => run('git', ['-C', this.tree, ...asThat, ...args]);
}
