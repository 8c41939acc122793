import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { imageNode } from '../../sandbox/node-runtime.ts';
import { repository } from '../../sandbox/images/recipes.ts';
import { parseSettings } from '../settings/settings.ts';
import { managerEnvironment } from './runtime-environment.ts';

const program = `
const { heap_size_limit } = require('node:v8').getHeapStatistics();
process.stdout.write(JSON.stringify({ heap: heap_size_limit, memory: process.constrainedMemory() }));`;

/** What the image gives Node.js besides the program. */
function imageFlags(): string[] {
  const [, entrypoint = '[]'] = /^ENTRYPOINT (.*)$/m.exec(readFileSync(`${repository}/Dockerfile`, 'utf8')) ?? [];
  return (JSON.parse(entrypoint) as string[]).slice(1, -1);
}

describe("the manager's heap", () => {
  it('F12: is 60 % of the memory that its container may take, in the Node.js that the image runs', () => {
    const node = imageNode(() => undefined);
    if (node === undefined) throw new Error('the Node.js of the image cannot be had here');
    const options = managerEnvironment(parseSettings({}), 'Manifests').filter(({ name }) => name === 'NODE_OPTIONS');
    const env = Object.fromEntries(options.map((option) => [option.name, 'value' in option ? option.value : '']));
    const said = execFileSync(node, [...imageFlags(), '-e', program], { env, encoding: 'utf8' });
    const { heap, memory } = JSON.parse(said) as { heap: number; memory: number };
    const available = memory > 0 ? Math.min(memory, totalmem()) : totalmem();
    expect(heap / available).toBeGreaterThan(0.59);
    expect(heap / available).toBeLessThan(0.66);
  });
});
