import { describe, expect, it } from '@jest/globals';
import { active, injector, made } from '../../sandbox/testing/injection.ts';
import type { InjectorReport } from '../api/lumigo.ts';
import { labels } from '../contract.ts';
import { reviewWorkload } from './injector.ts';

const review = (operation: string, more: object = {}, report?: InjectorReport) =>
  reviewWorkload(
    { uid: 'u', namespace: 'shop', operation, ...more },
    { injector, ownUser: 'us', policy: () => active, report: () => report, now: () => '2026-06-01T00:00:00.000Z' },
  );

describe('the review of a workload', () => {
  it('injects a new workload, except while the leader reports a failing injector [F67]', () => {
    expect(review('CREATE', { object: made() }).patch).toBeDefined();
    const answer = review('CREATE', { object: made() }, { health: 'failing', why: 'it crashed' });
    expect(answer).toMatchObject({ allowed: true, message: expect.stringContaining('the injector fails: it crashed') });
    expect(answer.patch).toBeUndefined();
  });

  it('is notable if the workload is opted out, and the request is no dry run [F53]', () => {
    const own = { [labels.autoTrace]: 'false' };
    const [optedOut, changed] = [made({ labels: own }), made({ labels: own, podLabels: { note: 'x' } })];
    expect(review('CREATE', { object: optedOut }).notable).toBe('Deployment shop/app');
    expect(review('UPDATE', { object: changed, oldObject: optedOut }).notable).toBe('Deployment shop/app');
    expect(review('CREATE', { object: optedOut, dryRun: true }).notable).toBeUndefined();
    expect(review('CREATE', { object: made() }).notable).toBeUndefined();
  });

  it('says that a request deletes the resource', () => {
    const message = 'The request deletes the resource; resource will not be mutated';
    expect(review('DELETE', { oldObject: made() })).toEqual({ allowed: true, code: 200, message, warnings: [] });
  });
});
