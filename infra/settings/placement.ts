import { opaqueList, section, stringMap } from './leaves.ts';

/** The pods of an installation, each of which may have its place: the operator's own, the Job that removes it, and the updater's. */
export const podsOfInstallation = ['controllerManager', 'uninstallHook', 'updater'] as const;

export type PodOfInstallation = (typeof podsOfInstallation)[number];

const meant = { controllerManager: "the operator's", uninstallHook: "the uninstall hook's", updater: "the updater's" };

/** For all of them, and for those that differ. An empty one says nothing, so that it is as all are. */
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
