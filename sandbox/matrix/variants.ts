import { helm4Version } from '../programs/archives.ts';
import { collector, helm4, type Component } from '../programs/components.ts';
import { triedKubernetes } from '../programs/kubernetes-versions.ts';

export interface Variant {
  /** The name on the command line: `1.30`. */
  readonly name: string;
  readonly program: string;
  readonly version: string;
  readonly components: readonly Component[];
  /** The related test files. Default: all. */
  readonly tests?: readonly string[];
  readonly lacks?: readonly string[];
}

/** The first minor version of Kubernetes with `MutatingAdmissionPolicy`. */
const POD_MODE_SINCE = 36;
const formerCollector = 'v0.142.0';

export const variants: readonly Variant[] = [
  ...triedKubernetes.map(({ minor, ...each }) => ({
    ...each,
    name: minor,
    program: 'Kubernetes',
    lacks: Number(minor.split('.')[1]) < POD_MODE_SINCE ? ['/pod-mode\\.cluster'] : [],
  })),
  {
    name: 'helm-4',
    program: 'Helm',
    version: helm4Version,
    components: [{ ...helm4, name: 'helm' }],
    // The Helm of users. The updater's image contains the one that the updater is tested with.
    tests: ['infra/helm', 'infra/constructs/apply.cluster'],
  },
  {
    name: 'collector-0.142',
    program: 'OpenTelemetry Collector',
    version: formerCollector,
    components: [collector(formerCollector.slice(1), 'collector-0.142')],
    tests: ['runtime/telemetry-proxy', 'sandbox/sandbox.cluster'],
  },
];

/** The short form tests what differs between API servers: validation, CEL, lists and watches, and one life of an instrumented namespace. */
export const shortTests = [
  'infra/constructs/apply.cluster',
  'infra/guard/guard.cluster',
  'infra/constructs/match-conditions.cluster',
  'runtime/kubernetes/watch/list-watch.cluster',
  'runtime/reconciler/lifecycle.cluster',
] as const;

const ofKubernetes = variants.filter(({ program }) => program === 'Kubernetes');

/** Returns the named variants. Default: all, or the oldest and the newest Kubernetes in the short form. @throws Error that lists the names */
export function chosen(names: readonly string[], isShort: boolean): readonly Variant[] {
  if (names.length === 0 && isShort)
    return ofKubernetes.filter((_, index) => index === 0 || index === ofKubernetes.length - 1);
  if (names.length === 0) return variants;
  return names.map((name) => {
    const found = variants.find((each) => each.name === name);
    if (found === undefined)
      throw new Error(`there is no version '${name}'. Use one of: ${variants.map((each) => each.name).join(', ')}`);
    return found;
  });
}
