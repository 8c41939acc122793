import { z } from 'zod';
import { knownSidecars } from '../../runtime/injection/chosen-containers.ts';
import { dnsLabel, dnsSubdomain, flag, oneOf, section } from './leaves.ts';

/** The settings of the injection. */
export const injection = section({
  imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never')
    .default('IfNotPresent')
    .describe("The pull policy of the injector's image in instrumented pods."),
  imagePullSecrets: z
    .array(dnsSubdomain(), { error: 'must be a list of names' })
    .default([])
    .describe(
      'Names of pull secrets that the operator adds to instrumented pods. Each must exist in the namespace of the workload. ' +
        'Pods that list pull secrets do not get those of their ServiceAccount (docs/install/private-registry.md).',
    ),
  sidecars: z
    .array(dnsLabel(), { error: 'must be a list of names' })
    .min(1, 'must name at least one container; to skip none, name one that no pod has')
    .default([...knownSidecars])
    .describe(
      'Names of containers that are not instrumented, such as those of service meshes and secret agents. The annotation ' +
        '`lumigo.inject-containers` of a workload or pod template can still name them.',
    ),
  otherTracers: oneOf('Skip', 'Inject')
    .default('Skip')
    .describe(
      'Whether containers are instrumented as well if their pod template shows Datadog, New Relic, OpenTelemetry, Dynatrace or dash0. ' +
        'If `Skip`, the annotation `lumigo.inject-containers` can still name them.',
    ),
  podMode: flag()
    .default(false)
    .describe(
      'Allows Pod mode (`spec.tracing.injection.mode: Pod` in a `Lumigo` resource): the API server injects pods when they are created, ' +
        'and no workload changes. If true, the installation has a policy for pods. It needs Kubernetes 1.36 or newer ' +
        '(docs/use/pod-mode.md).',
    ),
  updateOnUpgrade: flag()
    .default(false)
    .describe(
      'Renews the injection of running workloads after an upgrade of the operator, which restarts their pods. ' +
        'By default a workload gets the new version when its pod template next changes.',
    ),
});
