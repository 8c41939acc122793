import { describe, expect, it } from '@jest/globals';
import { decided, injector, instrumented, made, withMetadata } from '../../sandbox/testing/injection.ts';
import { annotations } from '../contract.ts';
import { agentAnnotations, agentLabels, agentPaths, agentVolumes, loaders } from './other-tracers.ts';
import { getInjectionStatus } from './injection-status.ts';
import { toTemplate, withTemplate } from './workload.ts';
import type { Container, Metadata, PodTemplate, Workload } from '../api/objects.ts';

const app = { name: 'app', image: 'app:1' };
const workload = (container: Partial<Container> = {}, metadata: Metadata = {}): Workload => {
  const plain = made({ pod: { containers: [{ ...app, ...container }] } });
  return withTemplate(plain, { ...(toTemplate(plain) as PodTemplate), metadata });
};

type Row = readonly [tracer: string, where: string, Workload];
const rows: readonly Row[] = [
  ...agentPaths.flatMap(({ tracer, mark }) =>
    loaders.map((name): Row => [tracer, `${name} with ${mark}`, workload({ env: [{ name, value: `x${mark}y` }] })]),
  ),
  ...agentVolumes.map(({ tracer, mark }): Row => {
    const volumeMounts = [{ name: `${mark}-app`, mountPath: '/agent' }];
    return [tracer, `the volume ${mark}`, workload({ volumeMounts })];
  }),
  ...agentAnnotations.map(({ tracer, mark }): Row => [tracer, mark, workload({}, { annotations: { [mark]: 'true' } })]),
  ...agentLabels.map(({ tracer, mark }): Row => [tracer, mark, workload({}, { labels: { [mark]: 'true' } })]),
];

describe('a container that another tracer instruments', () => {
  it.each(rows)('is skipped because of %s: %s', (tracer, _where, seen) => {
    const decision = decided(seen);
    expect(decision).toMatchObject({ kind: 'none', code: 'refused', tried: 'add' });
    expect(decision.message).toContain(`${tracer} already instruments it`);
  });

  it.each([
    ['Datadog', 'NODE_OPTIONS', '--require dd-trace/init'],
    ['Datadog', 'NODE_OPTIONS', '--import dd-trace/initialize.mjs'],
    ['Datadog', 'JAVA_TOOL_OPTIONS', '-Xmx1g -javaagent:/app/dd-java-agent.jar'],
    ['New Relic', 'NODE_OPTIONS', '-r newrelic'],
    ['New Relic', 'JAVA_TOOL_OPTIONS', '-javaagent:/app/newrelic.jar'],
    ['OpenTelemetry', 'NODE_OPTIONS', '--require @opentelemetry/auto-instrumentations-node/register'],
    ['OpenTelemetry', 'JAVA_TOOL_OPTIONS', '-javaagent:/app/opentelemetry-javaagent.jar'],
  ])('is skipped because of %s in %s: %s', (tracer, name, value) => {
    const { code, message } = decided(workload({ env: [{ name, value }] }));
    expect([code, message]).toEqual(['refused', expect.stringContaining(`${tracer} already instruments it`)]);
  });

  it('is said to have one of these tracers', () => {
    const tracers = [...new Set(rows.map(([tracer]) => tracer))].toSorted();
    expect(tracers).toEqual(['Datadog', 'Dynatrace', 'New Relic', 'OpenTelemetry', 'dash0']);
  });

  const traced = workload({ env: [{ name: 'NODE_OPTIONS', value: '--require /datadog-lib/index.js' }] });

  it('is instrumented if the annotation names it, or if the setting says so', () => {
    const named = withMetadata(traced, { annotations: { [annotations.injectContainers]: 'app' } });
    expect(decided(named).kind).toBe('inject');
    expect(decided(traced, { injector: { ...injector, otherTracers: 'Inject' } }).kind).toBe('inject');
  });

  it('keeps an injection after the setting changed, because nothing may restart it', () => {
    const injected = instrumented(traced, { injector: { ...injector, otherTracers: 'Inject' } });
    expect(decided(injected).code).toBe('up-to-date');
  });

  it('loses the injection when a user adds the other tracer', () => {
    const injected = instrumented(workload());
    const template = toTemplate(injected) as PodTemplate;
    const annotated = { ...template.metadata?.annotations, 'instrumentation.opentelemetry.io/inject-java': 'true' };
    const changed = withTemplate(injected, { ...template, metadata: { ...template.metadata, annotations: annotated } });
    expect(decided(changed, { operation: 'UPDATE', old: injected })).toMatchObject({ kind: 'remove' });
  });

  it.each([
    ['a plain NODE_OPTIONS', workload({ env: [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=300' }] })],
    ['a program of a similar name', workload({ env: [{ name: 'NODE_OPTIONS', value: '--require ./add-trace.js' }] })],
    ['the tracer of Lumigo', workload({ env: [{ name: 'NODE_OPTIONS', value: '-r @lumigo/opentelemetry' }] })],
    ['a mark in another variable', workload({ env: [{ name: 'NOTE', value: '/datadog-lib/' }] })],
    ['a request of false', workload({}, { annotations: { 'oneagent.dynatrace.com/inject': 'False' } })],
    ['a failed injection', workload({}, { labels: { 'dash0.com/instrumented': 'false' } })],
  ])('is not one with %s', (_what, seen) => expect(decided(seen).kind).toBe('inject'));

  it('does not keep the other containers of the pod from being instrumented, and the status says so', () => {
    const env = [{ name: 'LD_PRELOAD', value: '/opt/dynatrace/oneagent-paas/agent/lib64/liboneagentproc.so' }];
    const containers = [
      { ...app, env },
      { name: 'worker', image: 'worker:1' },
    ];
    const { metadata } = instrumented(made({ pod: { containers } }));
    expect(getInjectionStatus(metadata)?.skipped).toMatch(
      /^container 'app' is skipped: Dynatrace already instruments it/,
    );
  });
});
