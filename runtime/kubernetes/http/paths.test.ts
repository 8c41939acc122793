import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { queryString, requestKind, resourcePath } from './paths.ts';

const deployments = { group: 'apps', version: 'v1', plural: 'deployments' };
const pods = { group: '', version: 'v1', plural: 'pods' };

describe('resourcePath', () => {
  it.each([
    [pods, '/api/v1/pods'],
    [{ ...pods, namespace: 'shop', name: 'a' }, '/api/v1/namespaces/shop/pods/a'],
    [deployments, '/apis/apps/v1/deployments'],
    [
      { ...deployments, namespace: 'shop', name: 'cart', subresource: 'status' },
      '/apis/apps/v1/namespaces/shop/deployments/cart/status',
    ],
    [{ group: '', version: 'v1', plural: 'namespaces', name: 'shop' }, '/api/v1/namespaces/shop'],
  ])('%j', (ref, path) => expect(resourcePath(ref)).toBe(path));

  it('no name leads to another path', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (name) => {
        fc.pre(name !== '.' && name !== '..');
        const url = new URL(resourcePath({ ...pods, namespace: 'shop', name }), 'https://api');
        expect(url.pathname.split('/').slice(0, 6)).toEqual(['', 'api', 'v1', 'namespaces', 'shop', 'pods']);
        expect(decodeURIComponent(url.pathname.split('/')[6] ?? '')).toBe(name);
        expect([url.search, url.hash]).toEqual(['', '']);
      }),
    );
  });

  it.each(['', '.', '..'])('refuses the name %j, which would address another resource', (name) =>
    expect(() => resourcePath({ ...pods, namespace: 'shop', name })).toThrow(TypeError),
  );
});

describe('queryString', () => {
  it('omits undefined values and escapes the rest', () =>
    expect(queryString({ watch: true, limit: 5, continue: undefined, labelSelector: 'a in (b,c)' })).toBe(
      '?watch=true&limit=5&labelSelector=a%20in%20(b%2Cc)',
    ));
  it('is empty for no parameters', () => expect(queryString({ a: undefined }) + queryString(undefined)).toBe(''));
});

describe('requestKind', () => {
  it.each([
    ['GET', '/api/v1/pods', false, 'list', 'pods'],
    ['GET', '/api/v1/pods', true, 'watch', 'pods'],
    ['GET', '/api/v1/namespaces/shop/pods/a', false, 'get', 'pods'],
    ['GET', '/api/v1/namespaces', false, 'list', 'namespaces'],
    ['GET', '/api/v1/namespaces/shop', false, 'get', 'namespaces'],
    ['PUT', '/api/v1/namespaces/shop/finalize', false, 'update', 'namespaces/finalize'],
    ['PATCH', '/apis/apps/v1/namespaces/shop/deployments/cart/status', false, 'patch', 'deployments/status'],
    ['POST', '/api/v1/namespaces/shop/events', false, 'create', 'events'],
    ['DELETE', '/apis/operator.lumigo.io/v1alpha1/namespaces/shop/lumigoes/l', false, 'delete', 'lumigoes'],
    ['GET', '/readyz', false, 'get', '/readyz'],
  ])('%s %s, watch %s', (method, path, watch, ...[verb, resource]) =>
    expect(requestKind(method, path, watch)).toEqual({ verb, resource }),
  );
});
