import { describe, expect, it } from '@jest/globals';
import { cacheFolder, cacheKey } from './cache.ts';
import { allComponents } from './components.ts';

const sources = { goMod: 'module a', goSum: 'b', own: 'package main', goVersion: 'go version go1.24.0 linux/amd64' };

describe('the cache of built programs', () => {
  it("is in the folder of the user's choice, or in the system's folder for caches", () => {
    expect(cacheFolder({ LUMIGO_SANDBOX_CACHE: '/here', XDG_CACHE_HOME: '/there' })).toBe('/here');
    expect(cacheFolder({ XDG_CACHE_HOME: '/there' })).toBe('/there/lumigo-operator');
    expect(cacheFolder({})).toMatch(/\.cache\/lumigo-operator$/);
  });

  it('has another key for each input that changes a program', () => {
    const keys = allComponents.map((component) => cacheKey(component, sources));
    expect(new Set(keys).size).toBe(allComponents.length);
    const [etcd] = allComponents;
    if (etcd === undefined) throw new Error('no component');
    for (const change of [{ goMod: 'x' }, { goSum: 'x' }, { own: 'x' }, { goVersion: 'x' }])
      expect(cacheKey(etcd, { ...sources, ...change })).not.toBe(cacheKey(etcd, sources));
    expect(cacheKey(etcd, { ...sources })).toBe(cacheKey(etcd, sources));
  });
});
