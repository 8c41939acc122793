import { describe, expect, it } from '@jest/globals';
import { injector } from '../contract.ts';
import { hiddenPreloads } from './hidden-preload.ts';
import { otherNodes } from './eligibility.ts';
import type { PodSpec } from '../api/objects.ts';

const containers = [{ name: 'app', image: 'app' }];
const required = (...terms: readonly (readonly object[])[]) => ({
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
      },
    },
  },
});
const OLD_ARCH = 'beta.kubernetes.io/arch';
const windows = { key: 'kubernetes.io/os', operator: 'In', values: ['windows'] };
const mainframe = { key: 'kubernetes.io/arch', operator: 'In', values: ['s390x', 'ppc64le'] };

describe('pods that run where the injector cannot [F24]', () => {
  it.each<[string, object, 'windows' | 'architecture' | undefined]>([
    ['by nothing', {}, undefined],
    [
      'by labels that suit it',
      { nodeSelector: { 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' } },
      undefined,
    ],
    [
      'by labels of old that suit it',
      { nodeSelector: { 'beta.kubernetes.io/os': 'linux', [OLD_ARCH]: 'amd64' } },
      undefined,
    ],
    ['by the other processor', { nodeSelector: { [OLD_ARCH]: 'arm64' } }, undefined],
    ['by os', { os: { name: 'windows' } }, 'windows'],
    ['by selector', { nodeSelector: { 'kubernetes.io/os': 'windows' } }, 'windows'],
    ['by the label of old', { nodeSelector: { 'beta.kubernetes.io/os': 'windows' } }, 'windows'],
    ['by required affinity', required([windows]), 'windows'],
    ['by what is excluded', required([{ ...windows, operator: 'NotIn', values: ['linux'] }]), 'windows'],
    ['by the processor', { nodeSelector: { 'kubernetes.io/arch': 's390x' } }, 'architecture'],
    ['by the processor, as affinity', required([mainframe]), 'architecture'],
    ['by each of two terms, in its way', required([windows], [mainframe]), 'windows'],
    ['by one of two terms alone', required([windows], [{ key: 'zone', operator: 'In', values: ['a'] }]), undefined],
    ['on both processors', required([{ ...mainframe, values: ['arm64', 's390x'] }]), undefined],
    ['on all but one', required([{ ...mainframe, operator: 'NotIn', values: ['amd64'] }]), undefined],
  ])('%s', (_case, spec, other) => {
    expect(otherNodes({ containers, ...spec } as PodSpec)).toBe(other);
  });

  it('finds each place from which an LD_PRELOAD may come that would be hidden [F24]', () => {
    const injected = [{ name: 'LD_PRELOAD', value: injector.preload }];
    const from = (envFrom: object[], env: object[] = injected) =>
      hiddenPreloads({ containers: [{ name: 'app', envFrom, env }] } as never);
    expect(from([{ configMapRef: { name: 'shared' } }])).toEqual([
      "an LD_PRELOAD from ConfigMap 'shared' has no effect in container 'app', because the injector sets its own",
    ]);
    expect(from([{ secretRef: { name: 'shared' }, prefix: 'LD_' }])).toHaveLength(1);
    expect(from([{ secretRef: { name: 'shared' }, prefix: 'APP_' }])).toEqual([]);
    expect(from([{ secretRef: { name: 'shared' } }], [{ name: 'LD_PRELOAD', value: '/own.so' }])).toEqual([]);
    expect(from([{ secretRef: { name: 'shared' } }], [])).toEqual([]);
  });
});
