import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { injector, labels, workloads } from '../contract.ts';
import { decide } from './decide.ts';
import { inject } from './inject.ts';
import { isIntact } from './intact.ts';
import { workloadPatch } from './patch.ts';
import {
  lowered,
  amountsOf,
  effectiveLimit,
  effectiveRequest,
  isRestricted,
  qosClass,
} from '../../sandbox/testing/arbitrary/pod-rules.ts';
import { podTemplate } from '../../sandbox/testing/arbitrary/pod-template.ts';
import { remove, uninstrument } from './remove.ts';
import { stamp, unstamp, parseStamp } from './stamp.ts';
import type { PatchOperation, PodTemplate, Workload } from '../api/objects.ts';
import type { InjectionSettings } from './types.ts';
import { withTemplate } from './workload.ts';

/** A law that has nothing to judge in two of three templates fails, and each of its 500 runs has something [F88]. */
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
});

const templates = podTemplate({ unknownFields: true });

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

/** Returns the injected template, and skips the run of the law if the pod is refused. */
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

/** What RFC 6902 says, for the operations that are used. */
function apply(document: unknown, operations: readonly PatchOperation[]): unknown {
  // As JSON, because generated values share parts, and a clone would share them too.
  const copy: unknown = JSON.parse(JSON.stringify(document));
  for (const operation of operations) {
    const steps = operation.path
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = steps.pop() ?? '';
    const parent = steps.reduce<unknown>((node, step) => (node as Record<string, unknown>)[step], copy);
    if (Array.isArray(parent)) {
      const index = last === '-' ? parent.length : Number(last);
      if (operation.op === 'remove') parent.splice(index, 1);
      else parent.splice(index, operation.op === 'add' ? 0 : 1, structuredClone(operation.value));
    } else if (operation.op === 'remove') delete (parent as Record<string, unknown>)[last];
    else (parent as Record<string, unknown>)[last] = structuredClone(operation.value);
  }
  return copy;
}

describe('the laws of injection', () => {
  it('D6: remove(inject(t)) is t, to the byte', () => {
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        const back = remove(injected(template, chosen));
        expect(back).toEqual(template);
        expect(JSON.stringify(sorted(back))).toBe(JSON.stringify(sorted(template)));
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

  it('remove leaves alone what it did not make', () => {
    fc.assert(
      fc.property(templates, (template) => expect(remove(frozen(template))).toEqual(template)),
      RUNS,
    );
  });

  it('D46: the quality-of-service class stays, and the pod asks for no more than before', () => {
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        const result = injected(template, chosen);
        expect(qosClass(result.spec)).toBe(qosClass(template.spec));
        for (const resource of ['cpu', 'memory', 'ephemeral-storage'])
          expect(effectiveRequest(result.spec, resource)).toBe(effectiveRequest(template.spec, resource));
      }),
      RUNS,
    );
  });

  it('adds nothing to the effective requests and limits of a pod whose requests an admission webhook lowers [F72]', () => {
    // The webhook keeps the ratio of limits to requests, and lowers nothing below what the init container requests.
    const least = { cpu: 0.1, memory: 64 * 2 ** 20, 'ephemeral-storage': 64 * 2 ** 20 };
    let lowerings = 0;
    fc.assert(
      fc.property(templates, settings, fc.double({ min: 0.01, max: 1, noNaN: true }), (template, chosen, factor) => {
        const result = injected(template, chosen);
        const [before, after] = [lowered(template.spec, factor, least), lowered(result.spec, factor, least)];
        for (const resource of ['cpu', 'memory', 'ephemeral-storage']) {
          expect(effectiveRequest(after, resource)).toBe(effectiveRequest(before, resource));
          expect(effectiveLimit(after, resource)).toBe(effectiveLimit(before, resource));
          if (effectiveRequest(before, resource) < effectiveRequest(template.spec, resource)) lowerings += 1;
        }
        expect(qosClass(after)).toBe(qosClass(before));
      }),
      RUNS,
    );
    expect(lowerings).toBeGreaterThan(RUNS.numRuns / 5);
  });

  it('gives the init container each request and limit that all containers have, in a ratio that one of them has [F72]', () => {
    let ratiosJudged = 0;
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        const own = initContainer(injected(template, chosen));
        for (const resource of ['cpu', 'memory', 'ephemeral-storage']) {
          const asked = template.spec.containers.map((each) => amountsOf(each, resource));
          const { request, limit } = amountsOf(own, resource);
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

  it('D4: what passes Pod Security `restricted` still does', () => {
    const hardened = templates.map((template) => ({
      ...template,
      spec: {
        ...template.spec,
        hostNetwork: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: harden(template.spec.containers),
        ...(template.spec.initContainers ? { initContainers: harden(template.spec.initContainers) } : {}),
      },
    }));
    fc.assert(
      fc.property(hardened, settings, (template, chosen) => {
        expect(isRestricted(template.spec)).toBe(true);
        const result = injected(template as PodTemplate, { ...chosen, platform: 'kubernetes' });
        expect(isRestricted(result.spec)).toBe(true);
      }),
      RUNS,
    );
  });

  it('D7: the init container runs as a user that is not root, on OpenShift as the one it is given', () => {
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        const own = initContainer(injected(template, chosen));
        const { runAsUser } = own['securityContext'] as { runAsUser?: number };
        expect(runAsUser).toBe(expectedUser(template, chosen.platform));
      }),
      RUNS,
    );
  });

  it('what is injected is intact, and damage to it is noticed', () => {
    fc.assert(
      fc.property(templates, settings, (template, chosen) => {
        const result = injected(template, chosen);
        expect(isIntact(result, chosen)).toBe(true);
        const without = {
          ...result.spec,
          volumes: result.spec.volumes?.filter(({ name }) => name !== injector.volume) ?? [],
        };
        expect(isIntact({ ...result, spec: without }, chosen)).toBe(false);
        expect(isIntact(template, chosen)).toBe(false);
      }),
      RUNS,
    );
  });
});

function expectedUser({ spec }: PodTemplate, platform: 'kubernetes' | 'openshift'): number | undefined {
  const { runAsUser, fsGroup } = spec.securityContext ?? {};
  if (platform === 'openshift' && runAsUser !== 0) return undefined;
  return [runAsUser, fsGroup, 1234].find((user) => user !== undefined && user > 0);
}

/** Key order of maps says nothing; that of lists does. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

const harden = <T extends object>(containers: readonly T[]): T[] =>
  containers.map((container) => ({
    ...container,
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  }));

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
  const policy = {
    state: 'active',
    lumigo: 'lumigo',
    tracing: { secretName: 's', secretKey: 'k', traces: true, logs: false },
    createdAt: '',
    injectExisting: true,
    remove: true,
  } as const;
  const fixed = {
    version: '1.0.0',
    image: 'i:1',
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: [],
    endpoint: 'http://p',
    platform: 'kubernetes',
  } as const;
  const created = (each: Workload) =>
    decide({
      workload: frozen(each),
      operation: 'CREATE',
      policy,
      injector: fixed,
      now: '2026-01-01T00:00:00.000Z',
      by: 'webhook',
    });

  it('D2: the patch makes exactly what was decided, and unknown fields survive it', () => {
    fc.assert(
      fc.property(workload, (each) => {
        const decision = created(each);
        fc.pre(decision.action === 'inject');
        const patch = workloadPatch(each, decision.workload);
        expect(patch.length).toBeGreaterThan(0);
        expect(apply(each, patch)).toEqual(decision.workload);
        const back = workloadPatch(decision.workload, uninstrument(decision.workload));
        expect(apply(decision.workload, back)).toEqual(each);
      }),
      RUNS,
    );
  });

  it('no change, no patch', () => {
    fc.assert(
      fc.property(workload, (each) => {
        const decision = created(each);
        expect(workloadPatch(each, structuredClone(each))).toEqual([]);
        fc.pre(decision.action === 'inject' && each.kind !== 'Job');
        const again = decide({
          workload: decision.workload,
          operation: 'RECONCILE',
          policy,
          injector: fixed,
          now: '2027-01-01T00:00:00.000Z',
          by: 'controller',
        });
        expect(again).toMatchObject({ action: 'none', code: 'up-to-date' });
      }),
      RUNS,
    );
  });

  it('the stamp comes off as it went on', () => {
    fc.assert(
      fc.property(
        workload,
        fc.constantFrom('added' as const, 'updated' as const),
        fc.boolean(),
        (each, change, logs) => {
          const userLabel = each.metadata.labels?.[labels.autoTrace];
          const content = {
            change,
            at: '2026-01-01T00:00:00.000Z',
            by: 'webhook' as const,
            tracing: { ...policy.tracing, logs },
            ...(userLabel === undefined ? {} : { userLabel }),
          };
          const stamped = stamp(frozen(each.metadata), 'lumigo-operator.v1.0.0', content);
          expect(parseStamp(stamped.annotations?.['operator.lumigo.io/instrumentation'])).toEqual(content);
          expect(unstamp(stamped)).toEqual(each.metadata);
        },
      ),
      RUNS,
    );
  });

  it('the template of every kind is found and put back where it was', () => {
    fc.assert(
      fc.property(workload, templates, (each, template) => {
        expect(withTemplate(withTemplate(each, template), decideTemplate(each))).toEqual(each);
      }),
      RUNS,
    );
  });
});

const decideTemplate = (workload: Workload): PodTemplate => {
  const spec = workload['spec'] as { template?: PodTemplate; jobTemplate?: { spec: { template: PodTemplate } } };
  const template = spec.template ?? spec.jobTemplate?.spec.template;
  if (template === undefined) throw new Error('no template');
  return template;
};
