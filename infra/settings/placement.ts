import { opaqueList, section, stringMap } from './leaves.ts';

/** The pods whose place can be set. `clusterAgent` is the name of the node collector in the original operator's chart. */
const meant = {
  controllerManager: "the operator's",
  uninstallHook: "the uninstall hook's and `helm test`'s",
  updater: "the updater's",
  clusterAgent: "the node collector's",
  kubeStateMetrics: "kube-state-metrics'",
};

export type PodOfInstallation = keyof typeof meant;

export const podsOfInstallation = Object.keys(meant) as readonly PodOfInstallation[];

/** The settings for all pods, and for each of them. An empty list means those for all. */
export const tolerations = section({
  global: opaqueList().default([]).describe("Taints that the installation's pods tolerate."),
  ...perPod((pod) =>
    opaqueList().default([]).describe(`Taints that ${meant[pod]} pods tolerate. Empty: \`tolerations.global\`.`),
  ),
});

export const nodeSelector = section({
  global: stringMap().default({}).describe("Node labels that the installation's pods require."),
  ...perPod((pod) =>
    stringMap().default({}).describe(`Node labels that ${meant[pod]} pods require. Empty: \`nodeSelector.global\`.`),
  ),
});

function perPod<T>(setting: (pod: PodOfInstallation) => T): Record<PodOfInstallation, T> {
  return Object.fromEntries(podsOfInstallation.map((pod) => [pod, setting(pod)])) as Record<PodOfInstallation, T>;
}
