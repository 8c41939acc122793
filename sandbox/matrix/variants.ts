import { collector, type Component } from '../programs/components.ts';
import { triedKubernetes } from '../programs/kubernetes-versions.ts';

/** A version of a program that the tests are run against, in the place of their own. */
export interface Variant {
  /** What one calls it on the command line: `1.30`. */
  readonly name: string;
  readonly program: string;
  readonly version: string;
  readonly components: readonly Component[];
  /** Which test files have to do with it; left out: all. */
  readonly tests?: readonly string[];
  /** The test files of features that this version lacks. */
  readonly lacks?: readonly string[];
}

/** The first Kubernetes with `MutatingAdmissionPolicy`. */
const POD_MODE_SINCE = 36;
const podMode = ['/pod-mode\\.cluster', '/pod-rules\\.cluster'];

const helm4 = 'v4.3.1';
const newerCollector = 'v0.152.0';

export const variants: readonly Variant[] = [
  ...triedKubernetes.map(({ minor, ...each }) => ({
    ...{ ...each, name: minor, program: 'Kubernetes' },
    lacks: Number(minor.split('.')[1]) < POD_MODE_SINCE ? podMode : [],
  })),
  {
    ...{ name: 'helm-4', program: 'Helm', version: helm4 },
    components: [
      {
        name: 'helm',
        module: 'helm-4',
        goPackage: 'helm.sh/helm/v4/cmd/helm',
        ldflags: `-s -w -X helm.sh/helm/v4/internal/version.version=${helm4}`,
        expectedSeconds: 80,
      },
    ],
    // What a person runs; the updater's image brings the Helm that the updater is tested with.
    tests: ['infra/helm', 'infra/constructs/apply.cluster'],
  },
  {
    ...{ name: 'collector-0.152', program: 'OpenTelemetry Collector', version: newerCollector },
    components: [collector(newerCollector.slice(1), 'collector-0.152', ['telemetry.go'])],
    tests: ['runtime/telemetry-proxy', 'sandbox/sandbox.cluster'],
  },
];

/**
 * The short form: what differs between API servers, on the oldest and the newest. Objects and their validation, conditions of the
 * webhook and the guard (CEL), lists and watches, and a life of an instrumented namespace.
 */
export const shortTests = [
  'infra/constructs/apply.cluster',
  'infra/guard/allowed.cluster',
  'infra/guard/refused.cluster',
  'infra/constructs/match-conditions.cluster',
  'runtime/kubernetes/watch/list-watch.cluster',
  'runtime/reconciler/lifecycle.cluster',
] as const;

const ofKubernetes = variants.filter(({ program }) => program === 'Kubernetes');

/**
 * The variants that somebody asks for by name; without a name all, or in the short form the oldest and the newest Kubernetes.
 * @throws Error that lists those there are
 */
export function chosen(names: readonly string[], isShort: boolean): readonly Variant[] {
  if (names.length === 0) return isShort ? [ofKubernetes.at(0) ?? [], ofKubernetes.at(-1) ?? []].flat() : variants;
  return names.map((name) => {
    const found = variants.find((each) => each.name === name);
    if (found === undefined)
      throw new Error(`there is no version '${name}'. Use one of: ${variants.map((each) => each.name).join(', ')}`);
    return found;
  });
}
