import { describe, expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { essentialLumigo } from './essential-lumigo.ts';

const long = 'x'.repeat(40_000);
const secretRef = { name: 'lumigo-credentials', key: 'token' };
const lumigo = (metadata: object, spec: object = { lumigoToken: { secretRef } }): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'shop', name: 'lumigo', uid: 'l', resourceVersion: '1', ...metadata },
  spec,
});

describe('a Lumigo in memory', () => {
  it('has no foreign labels, annotations or managed fields, and notices their presence [F66]', () => {
    const foreign = { labels: { a: long }, annotations: { b: long }, managedFields: [{ c: long }] };
    const kept = essentialLumigo(lumigo(foreign));
    expect(JSON.stringify(kept).length).toBeLessThan(600);
    expect(kept.metadata.labelsDigest).not.toBe(essentialLumigo(lumigo({})).metadata.labelsDigest);
    expect(essentialLumigo(kept)).toEqual(kept);
  });

  it('shows if our finalizer is present, and if others are [F66]', () => {
    const finalizers = Array.from({ length: 1_000 }, (_, index) => `example.com/${index}`);
    const kept = essentialLumigo(lumigo({ finalizers: [...finalizers, contract.finalizer] }));
    expect(kept.metadata.finalizers).toEqual(['others', contract.finalizer]);
  });

  it('has a limited number of conditions and no list of resources [F66]', () => {
    const condition = { type: 'Own', status: 'True', reason: '', message: '', lastTransitionTime: '' } as const;
    const entry = { apiVersion: 'v1', kind: 'Pod', name: long, namespace: 'shop', resourceVersion: '1', uid: '' };
    const status = { instrumentedResources: [entry], conditions: Array.from({ length: 40 }, () => condition) };
    const kept = essentialLumigo({ ...lumigo({}), status } as unknown as LumigoResource);
    expect(kept.status).toEqual({ conditions: status.conditions.slice(0, 32) });
  });

  it('has neither spec nor status if only finalizers of others keep it [F66]', () => {
    const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['example.com/other'] };
    const kept = essentialLumigo({ ...lumigo(deleted), status: { secretVersion: long } });
    expect(kept).toEqual({ ...kept, spec: undefined, status: undefined });
    expect(kept.metadata).toMatchObject({ uid: 'l', resourceVersion: '1', finalizers: ['others'] });
    const ours = lumigo({ ...deleted, finalizers: ['example.com/other', contract.finalizer] });
    expect(essentialLumigo(ours).spec).toEqual(ours.spec);
  });

  it('names no Secret if its spec is longer than any valid one [F66]', () =>
    expect(
      essentialLumigo(lumigo({}, { lumigoToken: { secretRef: { name: long, key: 'token' } } })).spec,
    ).toBeUndefined());
});
