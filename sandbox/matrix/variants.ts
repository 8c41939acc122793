import { helm4Version, kubernetesVersion } from '../programs/archives.ts';
import { collector, helm4, kubernetes, type Component } from '../programs/components.ts';

export interface Variant {
  /** The name on the command line: `1.30`. */
  readonly name: string;
  readonly program: string;
  readonly version: string;
  readonly components: readonly Component[];
  /** Flags of Jest that select the related test files. Default: all. */
  readonly flags?: readonly string[];
}

/** For each Kubernetes version, the newest patch release whose modules are all available (later ones of 1.31 and 1.32 lack some). */
const kubernetesVersions = [
  'v1.30.14',
  'v1.31.0',
  'v1.32.2',
  'v1.33.13',
  'v1.34.4',
  'v1.35.4',
  kubernetesVersion,
  'v1.37.2',
] as const;

/** The first minor version of Kubernetes with `MutatingAdmissionPolicy`. */
const POD_MODE_SINCE = 36;
const formerCollector = 'v0.142.0';

/** A control plane of a version. Other programs, such as etcd and kubectl, have the version of the tests. */
function controlPlane(version: string): Variant {
  const [, name = '', minor = ''] = /^v(1\.(\d+))/.exec(version) ?? [];
  const programs = { version, module: version === kubernetesVersion ? 'kubernetes' : `kubernetes-${name}` };
  const components = [kubernetes('kube-apiserver', 230, programs), kubernetes('kube-controller-manager', 60, programs)];
  const flags = Number(minor) < POD_MODE_SINCE ? ['--testPathIgnorePatterns', '/pod-mode\\.cluster'] : [];
  return { name, program: 'Kubernetes', version, components, flags };
}

export const variants: readonly Variant[] = [
  ...kubernetesVersions.map(controlPlane),
  {
    name: 'helm-4',
    program: 'Helm',
    version: helm4Version,
    components: [{ ...helm4, name: 'helm' }],
    // The Helm of users. The updater's image contains the one that the updater is tested with.
    flags: ['--testPathPatterns', 'infra/helm', 'infra/constructs/apply.cluster'],
  },
  {
    name: 'collector-0.142',
    program: 'OpenTelemetry Collector',
    version: formerCollector,
    components: [collector(formerCollector.slice(1), 'collector-0.142')],
    flags: ['--testPathPatterns', 'runtime/telemetry-proxy', 'sandbox/sandbox.cluster'],
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

/** Returns the named variants. Default: all, or the oldest and the newest Kubernetes in the short form. @throws Error that lists the names */
export function chosen(names: readonly string[], isShort: boolean): readonly Variant[] {
  const ofKubernetes = variants.filter(({ program }) => program === 'Kubernetes');
  if (names.length === 0) return isShort ? [...ofKubernetes.slice(0, 1), ...ofKubernetes.slice(-1)] : variants;
  return names.map((name) => {
    const found = variants.find((each) => each.name === name);
    if (found === undefined)
      throw new Error(`there is no version '${name}'. Use one of: ${variants.map((each) => each.name).join(', ')}`);
    return found;
  });
}
