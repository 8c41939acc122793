const core = { group: '', version: 'v1' } as const;
export const admission = { group: 'admissionregistration.k8s.io', version: 'v1' } as const;

/** Kubernetes' own resources. Workloads, pods and Lumigo resources are in contract.ts. */
export const kinds = {
  configMaps: { ...core, plural: 'configmaps' },
  customResourceDefinitions: { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' },
  deployments: { group: 'apps', version: 'v1', plural: 'deployments' },
  events: { ...core, plural: 'events' },
  leases: { group: 'coordination.k8s.io', version: 'v1', plural: 'leases' },
  namespaces: { ...core, plural: 'namespaces' },
  secrets: { ...core, plural: 'secrets' },
  serviceAccounts: { ...core, plural: 'serviceaccounts' },
  webhooks: { ...admission, plural: 'mutatingwebhookconfigurations' },
} as const;
