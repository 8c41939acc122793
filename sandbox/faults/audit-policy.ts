/** What a verdict is made from: the writes of workloads, Lumigo resources and events with their bodies, all else by name. */
export const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
  - level: RequestResponse
    verbs: [create, update, patch]
    resources:
      - { group: apps, resources: [deployments] }
      - { group: operator.lumigo.io, resources: [lumigoes] }
  - level: Request
    verbs: [create]
    resources: [{ group: '', resources: [events] }]
  - level: Metadata
`;

/** The log is one file: it is read from where the last reading ended. */
export const auditFlags = ['--audit-log-maxsize=100000'];
