import { describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { totalmem } from 'node:os';
import { imageFlags } from '../../sandbox/manager/image-flags.ts';
import { imageNode } from '../../sandbox/node-runtime.ts';

const program = `
const { heap_size_limit } = require('node:v8').getHeapStatistics();
process.stdout.write(JSON.stringify({ heap: heap_size_limit, memory: process.constrainedMemory() }));`;

describe("the manager's heap", () => {
  it("is 60 % of its container's memory limit, in the Node.js that the image runs [F12]", () => {
    const node = imageNode(() => undefined);
    if (node === undefined) throw new Error('the Node.js of the image cannot be had here');
    const said = execFileSync(node, [...imageFlags(), '-e', program], { env: {}, encoding: 'utf8' });
    const { heap, memory } = JSON.parse(said) as { heap: number; memory: number };
    const available = memory > 0 ? Math.min(memory, totalmem()) : totalmem();
    expect(heap / available).toBeGreaterThan(0.59);
    expect(heap / available).toBeLessThan(0.66);
  });
});
