import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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

  commit(message: string): string {
    this.#git('add', '--all');
    this.#git('commit', '--quiet', '--message', message);
    return this.#git('rev-parse', 'HEAD').trim();
  }

  #git = (...args: readonly string[]): string => run('git', ['-C', this.tree, ...asThat, ...args]);
}
