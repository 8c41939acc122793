import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lineSplitter } from './lines.ts';

function split(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = lineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  return lines;
}

describe('lineSplitter', () => {
  it('gives the same lines however the bytes are cut, characters of several bytes included', () => {
    const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', '')));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        expect(split(chunks)).toEqual(lines.filter((line) => line !== ''));
      }),
    );
  });

  it('keeps an unfinished line to itself', () => expect(split([Buffer.from('whole\nhal')])).toEqual(['whole']));

  it('takes time in proportion to a long line, not to its square', () => {
    const chunk = Buffer.alloc(1024, 'x');
    const seconds = (count: number): number => {
      const started = performance.now();
      const chunks = Array.from({ length: count }, () => chunk);
      expect(split([...chunks, Buffer.from('\n')])[0]).toHaveLength(count * chunk.length);
      return performance.now() - started;
    };
    seconds(1000);
    // 16 times the bytes; the square would be 256 times the time, and gigabytes copied.
    expect(seconds(16_000)).toBeLessThan(Math.max(seconds(1000), 2) * 100);
  });
});
