import { z } from 'zod';
import { knownSidecars } from '../../runtime/injection/chosen-containers.ts';
import { dnsLabel, dnsSubdomain, flag, oneOf, section } from './leaves.ts';

/** What is injected, into what, and when anew. */
export const injection = section({
  imagePullPolicy: oneOf('Always', 'IfNotPresent', 'Never')
    .default('IfNotPresent')
    .describe("When nodes pull the injector's image for instrumented pods."),
  imagePullSecrets: z
    .array(dnsSubdomain(), { error: 'must be a list of names' })
    .default([])
    .describe("Names of pull secrets that instrumented pods gain; each must exist in the workload's own namespace."),
  sidecars: z
    .array(dnsLabel(), { error: 'must be a list of names' })
    .min(1, 'must name at least one container; one that no pod has leaves none alone')
    .default([...knownSidecars])
    .describe(
      'Names of containers that are left alone, as those of service meshes and secret agents, unless the annotation ' +
        '`lumigo.inject-containers` of workload or pod template names them.',
    ),
  podMode: flag()
    .default(false)
    .describe(
      'Whether a Lumigo may ask for Pod mode (`spec.tracing.injection.mode: Pod`): pods are injected as they are created, and no ' +
        'workload is changed. It gives the operator a webhook for the pods of such namespaces, and the right to evict pods ' +
        '(docs/use/pod-mode.md).',
    ),
  updateOnUpgrade: flag()
    .default(false)
    .describe(
      'Whether an upgrade of the operator renews the injection of running workloads, which restarts their pods. ' +
        'Otherwise a workload gets the new version when its pod template next changes.',
    ),
});
