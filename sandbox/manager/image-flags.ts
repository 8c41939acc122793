import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The flags that the operator's image gives Node.js (Dockerfile). */
export function imageFlags(): string[] {
  const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
  const [, entrypoint = '[]'] = /^ENTRYPOINT (.*)$/m.exec(dockerfile) ?? [];
  return (JSON.parse(entrypoint) as string[]).slice(1, -1);
}

/** Those of the image's flags that this Node.js has, without the one that is about a container's memory. Node.js 20 lacks `--disable-sigusr1`. */
export const flagsFor = (node: string): string[] =>
  imageFlags().filter(
    (flag) => !flag.startsWith('--max-old-space-size') && spawnSync(node, [flag, '--version']).status === 0,
  );
