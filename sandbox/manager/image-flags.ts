import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Returns the Node.js flags of the operator's image (Dockerfile). */
export function imageFlags(): string[] {
  const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
  const [, entrypoint = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  return (JSON.parse(entrypoint) as string[]).slice(1, -1);
}

/** Returns the image's flags that this Node.js has, without the one for a container's memory. Node.js 20 lacks `--disable-sigusr1`. */
export const flagsFor = (node: string): string[] =>
  imageFlags().filter(
    (flag) => !flag.startsWith('--max-old-space-size') && spawnSync(node, [flag, '--version']).status === 0,
  );
