import { annotations } from '../contract.ts';
import type { Container, Metadata } from '../api/objects.ts';
import type { ContainerChoice, InjectorSettings } from './types.ts';

interface Mark {
  readonly tracer: 'Datadog' | 'New Relic' | 'OpenTelemetry' | 'Dynatrace' | 'dash0';
  readonly mark: string;
}

const of = (tracer: Mark['tracer'], ...marks: readonly string[]): readonly Mark[] =>
  marks.map((mark) => ({ tracer, mark }));

/** The variables by which a runtime loads an agent. */
export const loaders: readonly string[] = ['LD_PRELOAD', 'NODE_OPTIONS', 'PYTHONPATH', 'JAVA_TOOL_OPTIONS'];

/** Parts of the values of `loaders`, which other tracers' injections write, or users by the documentation of a tracer. */
export const agentPaths: readonly Mark[] = [
  ...of('Datadog', '/datadog-lib/', '/opt/datadog-packages/datadog-apm-inject/', 'dd-trace/', 'dd-java-agent'),
  ...of('New Relic', 'newrelic'),
  ...of('OpenTelemetry', '/otel-auto-instrumentation', 'auto-instrumentations-node', 'opentelemetry-javaagent'),
  ...of('Dynatrace', 'liboneagentproc.so'),
  ...of('dash0', '/__dash0__/', '/__otel_auto_instrumentation/'),
];

/** The beginnings of the names of volumes that they mount into containers. */
export const agentVolumes: readonly Mark[] = [
  ...of('Datadog', 'datadog-auto-instrumentation'),
  ...of('New Relic', 'newrelic-instrumentation'),
  ...of('OpenTelemetry', 'opentelemetry-auto-instrumentation'),
  ...of('Dynatrace', 'oneagent-bin', 'dynatrace-codemodules'),
  ...of('dash0', 'dash0-instrumentation'),
];

const languages = ['java', 'js', 'python', 'dotnet', 'ruby', 'php'];

/** Annotations of pods that ask for an injection at the pod's creation, or that one wrote. Any value but `false` counts. */
export const agentAnnotations: readonly Mark[] = [
  ...of('Datadog', ...languages.map((language) => `admission.datadoghq.com/${language}-lib.version`)),
  ...of('Datadog', ...languages.map((language) => `admission.datadoghq.com/${language}-lib.custom-image`)),
  ...of('New Relic', 'newrelic.com/instrumentation-versions'),
  ...of(
    'OpenTelemetry',
    ...['java', 'nodejs', 'python', 'dotnet'].map((language) => `instrumentation.opentelemetry.io/inject-${language}`),
  ),
  ...of('Dynatrace', 'oneagent.dynatrace.com/inject', 'oneagent.dynatrace.com/injected'),
];

export const agentLabels: readonly Mark[] = of('dash0', 'dash0.com/instrumented');

/** Returns why a container is left to another tracer; undefined if it is not. */
export function whyTraced(
  container: Container,
  metadata: Metadata | undefined,
  { include }: ContainerChoice,
  { otherTracers }: InjectorSettings,
): string | undefined {
  if (otherTracers === 'Inject' || include?.has(container.name) === true) return undefined;
  const found = inContainer(container) ?? inPod(metadata);
  if (found === undefined) return undefined;
  return `${found.tracer} already instruments it (${found.mark}); to instrument it anyway, name it in the annotation ${annotations.injectContainers}`;
}

function inContainer({ env = [], volumeMounts = [] }: Container): Mark | undefined {
  const loading = env.filter(({ name }) => loaders.includes(name));
  return (
    agentPaths.find(({ mark }) => loading.some(({ value }) => value?.includes(mark))) ??
    agentVolumes.find(({ mark }) => volumeMounts.some(({ name }) => name.startsWith(mark)))
  );
}

const inPod = ({ annotations: asked = {}, labels = {} }: Metadata = {}): Mark | undefined =>
  agentAnnotations.find(({ mark }) => isSet(asked, mark)) ?? agentLabels.find(({ mark }) => isSet(labels, mark));

const isSet = (map: Readonly<Record<string, string>>, key: string): boolean =>
  !['', 'false'].includes((map[key] ?? '').toLowerCase());
