import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { collectorImage } from '../settings/controller-manager.ts';

const read = (file: string): string => readFileSync(file, 'utf8');

describe('CODEOWNERS', () => {
  it('names folders that exist', () => {
    const paths = [...read('.github/CODEOWNERS').matchAll(/^\/(\S+) +@/gm)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('renovate.json', () => {
  const { customManagers } = JSON.parse(read('.github/renovate.json')) as {
    readonly customManagers: readonly {
      readonly managerFilePatterns: readonly string[];
      readonly matchStrings: readonly string[];
    }[];
  };

  it('finds the version and the digest of the telemetry proxy in the settings', () => {
    const [{ managerFilePatterns, matchStrings } = { managerFilePatterns: [], matchStrings: [] }] = customManagers;
    const file = 'infra/settings/controller-manager.ts';
    expect(new RegExp(managerFilePatterns[0]?.slice(1, -1) ?? '').test(file)).toBe(true);
    const found = new RegExp(matchStrings[0] ?? '').exec(read(file))?.groups;
    expect({ ...found }).toEqual({ currentValue: collectorImage.tag, currentDigest: collectorImage.digest });
  });
});

describe('the version of Node.js', () => {
  it('is the same in .nvmrc, in the image and in the development container', () => {
    const version = read('.nvmrc').trim();
    expect(read('Dockerfile')).toMatch(new RegExp(`^FROM .*node:${version}\\.`, 'm'));
    expect(JSON.parse(read('.devcontainer/devcontainer.json')).image).toContain(`:${version}-`);
  });
});
