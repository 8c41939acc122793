import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { injector, labels, workloads } from '../contract.ts';
import { inject } from './inject.ts';
import { workloadPatch } from './patch.ts';
import { applyStrictly } from '../../sandbox/testing/apply-patch.ts';
import { decided } from '../../sandbox/testing/injection.ts';
import { getAmounts, effective, lowered, qosClass } from '../../sandbox/testing/arbitrary/pod-rules.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { tracerSettings } from '../../sandbox/testing/arbitrary/tracer-settings.ts';
import { remove, uninstrument } from './remove.ts';
import { getTracerVariables } from './tracer-settings.ts';
import type { InjectionSettings } from './types.ts';
import type { PodTemplate, Workload } from '../api/objects.ts';

/** Each law has 500 templates to judge, and fails if two of three have nothing to judge [F88]. */
const RUNS = { numRuns: 500, maxSkipsPerRun: 2 };

const settings = fc.record({
  version: fc.constantFrom('1.0.0', '2.1.0-rc.1+build'),
  image: fc.constantFrom('lumigo-autotrace:1', 'registry.example.com/lumigo-autotrace@sha256:00'),
  imagePullPolicy: fc.constantFrom('Always' as const, 'IfNotPresent' as const),
  imagePullSecrets: fc.constantFrom<readonly string[]>([], ['shared'], ['mine', 'other']),
  endpoint: fc.constantFrom('http://proxy.lumigo-system.svc.cluster.local', 'http://proxy.elsewhere.svc'),
  platform: fc.constantFrom('kubernetes' as const, 'openshift' as const),
  secretName: fc.constantFrom('lumigo-credentials', 'other'),
  secretKey: fc.constantFrom('token', 'key.with-dots_'),
  traces: fc.boolean(),
  logs: fc.boolean(),
  env: tracerSettings.map(getTracerVariables),
});

/** Objects from JSON all have one prototype. */
const templates = podTemplate({ unknownFields: true }).map((each) => JSON.parse(JSON.stringify(each)) as PodTemplate);

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

function injected(template: PodTemplate, chosen: InjectionSettings): PodTemplate {
  const result = inject(frozen(template), frozen(chosen));
  fc.pre(result.refused === undefined);
  return frozen(result.template);
}

function initContainer({ spec }: PodTemplate) {
  const own = spec.initContainers?.find(({ name }) => name === injector.container);
  if (own === undefined) throw new Error('the template has no init container of the injection');
  return own;
}

describe('the laws of injection', () => {
  it('remove(inject(t)) is t, to the byte [D6]', () => {
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        expect(remove(injected(template, chosen))).toStrictEqual(template);
      }),
      RUNS,
    );
  });

  it('inject(inject(t)) is inject(t), and a renewal is the same as a first injection', () => {
    fc.assert(
      fc.property(templates, settings, settings, (template, first, second) => {
        const once = injected(template, first);
        expect(injected(once, first)).toEqual(once);
        expect(injected(once, second)).toEqual(injected(template, second));
      }),
      RUNS,
    );
  });

  it('remove changes only what inject has added', () => {
    fc.assert(
      fc.property(templates, (template) => expect(remove(frozen(template))).toEqual(template)),
      RUNS,
    );
  });

  it('the class of service and what the pod requests stay, also if an admission webhook lowers requests [D46, F72]', () => {
    // The webhook keeps the ratio of limits to requests, and lowers nothing below what the init container requests.
    const least = { cpu: 0.1, memory: 64 * 2 ** 20, 'ephemeral-storage': 64 * 2 ** 20 };
    const factors = fc.oneof(fc.constant(1), fc.double({ min: 0.01, max: 1, noNaN: true }));
    const seen = new Set<string>();
    let lowerings = 0;
    fc.assert(
      fc.property(templates, settings, factors, (template, chosen, factor) => {
        const result = injected(template, chosen);
        const before = lowered(template.spec, factor, least);
        const after = lowered(result.spec, factor, least);
        for (const resource of ['cpu', 'memory', 'ephemeral-storage']) {
          const request = effective(before, resource, 'request');
          expect(effective(after, resource, 'request')).toBe(request);
          expect(effective(after, resource, 'limit')).toBe(effective(before, resource, 'limit'));
          if (request < effective(template.spec, resource, 'request')) lowerings += 1;
        }
        expect(qosClass(after)).toBe(qosClass(before));
        seen.add(qosClass(before));
      }),
      RUNS,
    );
    expect(lowerings).toBeGreaterThan(RUNS.numRuns / 5);
    expect([...seen].toSorted()).toEqual(['BestEffort', 'Burstable', 'Guaranteed']);
  });

  it('the init container gets each request and limit of all containers, in a ratio of one [F72]', () => {
    let ratiosJudged = 0;
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        const own = initContainer(injected(template, chosen));
        for (const resource of ['cpu', 'memory', 'ephemeral-storage']) {
          const asked = template.spec.containers.map((each) => getAmounts(each, resource));
          const { request, limit } = getAmounts(own, resource);
          if (asked.every((each) => each.request !== undefined)) expect(request).toBeDefined();
          if (asked.every((each) => each.limit !== undefined)) expect(limit).toBeDefined();
          if (limit === undefined || request === undefined) continue;
          ratiosJudged += 1;
          expect(limit).toBeGreaterThanOrEqual(request);
          const ratios = asked.map((each) => (each.limit ?? 0) / (each.request ?? 1));
          expect(limit / request).toBeLessThanOrEqual(Math.max(...ratios));
        }
      }),
      RUNS,
    );
    expect(ratiosJudged).toBeGreaterThan(RUNS.numRuns / 5);
  });

  it('a pod is refused if and only if its limit of ephemeral storage is too low for the files', () => {
    const reasons = { low: 0, enough: 0 };
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        const { refused = '' } = inject(template, chosen);
        const { containers, initContainers = [] } = template.spec;
        const limits = [...containers, ...initContainers].map((each) => getAmounts(each, 'ephemeral-storage').limit);
        fc.pre(
          limits.some((limit) => limit !== undefined) && (refused === '' || refused.includes('ephemeral-storage')),
        );
        const isLow = effective(template.spec, 'ephemeral-storage', 'limit') < 250e6;
        expect(refused !== '').toBe(isLow);
        reasons[isLow ? 'low' : 'enough'] += 1;
      }),
      { ...RUNS, maxSkipsPerRun: 5 },
    );
    expect(reasons.low).toBeGreaterThan(10);
    expect(reasons.enough).toBeGreaterThan(100);
  });

  it('the init container is not root, and on OpenShift has the context that it is given [D7]', () => {
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        const own = initContainer(injected(template, chosen))['securityContext'] as Record<string, unknown>;
        expect([own['runAsUser'], own['seccompProfile']]).toEqual(expectedContext(template, chosen.platform));
      }),
      RUNS,
    );
  });
});

/** OpenShift assigns a user and a seccomp profile, unless the pod or a container sets its own. */
function expectedContext({ spec }: PodTemplate, platform: 'kubernetes' | 'openshift') {
  const { runAsUser, fsGroup } = spec.securityContext ?? {};
  const user = [runAsUser, fsGroup, 1234].find((each) => each !== undefined && each > 0);
  const pinsProfile = spec.containers.some(({ securityContext }) => securityContext?.seccompProfile !== undefined);
  const isFree = platform === 'kubernetes';
  const own = spec.containers.find(({ securityContext }) => (securityContext?.runAsUser ?? 0) > 0);
  return [
    isFree || runAsUser === 0 ? user : own?.securityContext?.runAsUser,
    isFree || pinsProfile ? { type: 'RuntimeDefault' } : undefined,
  ];
}

describe('the laws of whole workloads', () => {
  const userLabels = fc.option(
    fc
      .record(
        { app: fc.constant('app'), [labels.autoTrace]: fc.constantFrom('true', 'True', 'x') },
        { requiredKeys: [] },
      )
      .filter((found) => Object.keys(found).length > 0),
    { nil: undefined },
  );
  const workload = fc.tuple(fc.constantFrom(...workloads), templates, userLabels).map(([kind, template, own]) => {
    const spec =
      kind.kind === 'CronJob'
        ? { jobTemplate: { spec: { template } }, schedule: '* * * * *' }
        : { template, replicas: 2 };
    const metadata = { namespace: 'shop', name: 'app', uid: 'u', ...(own === undefined ? {} : { labels: own }) };
    return { apiVersion: kind.apiVersion, kind: kind.kind, metadata, spec } as unknown as Workload;
  });
  const created = (each: Workload) => decided(frozen(each), { operation: 'CREATE', by: 'webhook' });

  it('the patch makes exactly what was decided, keeps unknown fields, and needs no other one [D2]', () => {
    fc.assert(
      fc.property(workload, (each) => {
        const decision = created(each);
        fc.pre(decision.kind === 'inject');
        const patch = workloadPatch(each, decision.workload);
        expect(patch.length).toBeGreaterThan(0);
        const template = workloads.find(({ kind }) => kind === each.kind)?.template.join('/');
        const own = new RegExp(`^/(metadata/(labels|annotations)|${template})(/|$)`);
        for (const { path } of patch) expect(path).toMatch(own);
        expect(applyStrictly(each, patch)).toEqual(decision.workload);
        const back = workloadPatch(decision.workload, uninstrument(decision.workload));
        expect(applyStrictly(decision.workload, back)).toEqual(each);
        if (each.kind === 'Job') return;
        const again = decided(decision.workload, { now: '2027-01-01T00:00:00.000Z' });
        expect(again).toMatchObject({ kind: 'none', code: 'up-to-date' });
      }),
      RUNS,
    );
  });
});
