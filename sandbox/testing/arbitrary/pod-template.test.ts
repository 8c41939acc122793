import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { annotations, labels } from '../../../runtime/contract.ts';
import { inject } from '../../../runtime/injection/inject.ts';
import { settings } from '../injection.ts';
import { podTemplate } from './pod-template.ts';
import type { Container, EnvVar, PodTemplate } from '../../../runtime/api/objects.ts';

/** The laws are about generated templates only, so each shape must be among them. */

const found = fc.sample(podTemplate({ unknownFields: true }), { seed: 7, numRuns: 2_000 });

const anyContainer = (is: (container: Container) => boolean) => (template: PodTemplate) =>
  template.spec.containers.some(is);
const anyVariable = (is: (variable: EnvVar) => boolean) => anyContainer(({ env = [] }) => env.some(is));
const mountedAt = (path: string) =>
  anyContainer(({ volumeMounts = [] }) => volumeMounts.some(({ mountPath }) => mountPath === path));
const injection = (template: PodTemplate) => inject(template, settings);

const shapes: readonly (readonly [string, (template: PodTemplate) => boolean])[] = [
  ['LD_PRELOAD with a value', anyVariable(({ name, value }) => name === 'LD_PRELOAD' && value !== undefined)],
  ['LD_PRELOAD from elsewhere', anyVariable(({ name, valueFrom }) => name === 'LD_PRELOAD' && valueFrom !== undefined)],
  ['a variable of the tracer', anyVariable(({ name }) => name.startsWith('LUMIGO_'))],
  ['a name given twice', anyContainer(({ env = [] }) => new Set(env.map(({ name }) => name)).size < env.length)],
  ['a variable named like a member of objects', anyVariable(({ name }) => name === '__proto__')],
  ['a container named like one', anyContainer(({ name }) => name === '__proto__')],
  ['an annotation named like one', ({ metadata }) => Object.hasOwn(metadata?.annotations ?? {}, 'constructor')],
  ['envFrom', anyContainer((container) => container['envFrom'] !== undefined)],
  ['a mount at the place of the injector', mountedAt('/opt/lumigo')],
  ['a mount below it', mountedAt('/opt/lumigo/config')],
  ['a container with a security context', anyContainer((container) => container['securityContext'] !== undefined)],
  ['a sidecar', ({ spec }) => spec.initContainers?.some((each) => each['restartPolicy'] === 'Always') === true],
  ['resources of the pod', ({ spec }) => spec.resources !== undefined],
  ['a list for the autoscaler', ({ metadata }) => metadata?.annotations?.[annotations.safeToEvict] !== undefined],
  ['a label of the user', ({ metadata }) => metadata?.labels?.[labels.autoTrace] !== undefined],
  ['pull secrets', ({ spec }) => spec.imagePullSecrets !== undefined],
  ['no metadata', ({ metadata }) => metadata === undefined],
  ['ephemeral containers', ({ spec }) => spec['ephemeralContainers'] !== undefined],
  ['an unknown field', (template) => JSON.stringify(template).includes('futureField')],
  ['a pod that is refused', (template) => injection(template).refused !== undefined],
  [
    'a container that is skipped beside one that is not',
    (template) => (injection(template) as { skipped?: readonly unknown[] }).skipped?.length === 1,
  ],
];

describe('among the generated pod templates', () => {
  it.each(shapes)('some have %s', (_shape, has) => {
    expect(found.filter(has).length).toBeGreaterThan(found.length / 200);
  });

  it('most can be injected', () => {
    expect(found.filter((each) => injection(each).refused === undefined).length).toBeGreaterThan(found.length / 2);
  });
});
