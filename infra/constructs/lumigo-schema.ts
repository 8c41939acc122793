/**
 * The OpenAPI schema of a Lumigo resource (spec §1). The API server fills every default, so no webhook is needed for it:
 * a parent's default `{}` is what makes those of its children apply where the parent is left out.
 */

type Schema = Readonly<Record<string, unknown>>;

const flag = (value: boolean, description: string): Schema => ({ type: 'boolean', default: value, description });

const count = (description: string): Schema => ({ type: 'integer', format: 'int64', minimum: 0, description });

const text = (description: string): Schema => ({ type: 'string', description });

const section = (description: string, properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  default: {},
  description,
  properties,
});

/** A rule beside the length says in words what is wrong with an empty or blank name. */
const reference = (description: string, blank: string): Schema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength: 253,
  'x-kubernetes-validations': [{ rule: "self.matches('\\\\S')", message: blank }],
});

const secretRef: Schema = {
  type: 'object',
  description: 'The Secret, in the same namespace, that holds the Lumigo token.',
  required: ['name', 'key'],
  properties: {
    name: reference('The name of the Secret.', 'must be the name of the Secret that holds the Lumigo token'),
    key: reference('The key of the token in the Secret.', 'must be the key of the Lumigo token in the Secret'),
  },
};

const spec: Schema = {
  type: 'object',
  description: 'What Lumigo does in this namespace.',
  required: ['lumigoToken'],
  properties: {
    lumigoToken: {
      type: 'object',
      description: 'Where the Lumigo token comes from, with which telemetry is sent.',
      required: ['secretRef'],
      properties: { secretRef },
    },
    tracing: section('Distributed tracing of the workloads.', {
      enabled: flag(true, 'Whether instrumented workloads send traces.'),
      injection: section('How Lumigo tracers get into the workloads.', {
        enabled: flag(true, 'Whether workloads are instrumented.'),
        mode: {
          type: 'string',
          enum: ['Workload', 'Pod'],
          default: 'Workload',
          description:
            'What is injected into: the pod templates of workloads, or pods as they are created, which changes no object of yours. Pod needs the setting injection.podMode of the operator.',
        },
        injectLumigoIntoExistingResourcesOnCreation: flag(
          true,
          'Whether workloads that exist before this Lumigo are instrumented, which restarts their pods.',
        ),
        removeLumigoFromResourcesOnDeletion: flag(
          true,
          'Whether workloads lose their instrumentation when this Lumigo is deleted, which restarts their pods.',
        ),
      }),
    }),
    logging: section('Logs of the workloads.', {
      enabled: flag(false, 'Whether instrumented workloads send their logs.'),
    }),
    infrastructure: section('What Kubernetes itself tells about the namespace.', {
      enabled: flag(true, 'Whether anything of it is collected.'),
      kubeEvents: section('Kubernetes events, and the versions of the objects they are about.', {
        enabled: flag(true, 'Whether they are collected.'),
      }),
    }),
  },
};

/**
 * Only `type` and `status` are required of a condition: those that the original operator wrote have no reason, and a
 * stored object that its schema refuses could not even lose its finalizer.
 */
const conditions: Schema = {
  type: 'array',
  description: 'Active: whether Lumigo works in this namespace. Error: what keeps it from doing so.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: {
      type: { type: 'string', description: 'Which condition.', maxLength: 316 },
      status: { type: 'string', description: 'Whether it holds.', enum: ['True', 'False', 'Unknown'] },
      reason: { type: 'string', description: 'Why, in one word for programs.', maxLength: 1024 },
      message: { type: 'string', description: 'Why, in a sentence for people.', maxLength: 32768 },
      lastTransitionTime: { type: 'string', format: 'date-time', description: 'When the status last changed.' },
      observedGeneration: count('The generation of the Lumigo that this is about.'),
    },
  },
};

const instrumentedResources: Schema = {
  type: 'array',
  description: 'The instrumented workloads, sorted; at most the first 1,000 of them.',
  'x-kubernetes-list-type': 'atomic',
  items: {
    type: 'object',
    properties: {
      apiVersion: text('The API version of the workload.'),
      kind: text('The kind of the workload.'),
      namespace: text('The namespace of the workload.'),
      name: text('The name of the workload.'),
      uid: text('The identity of the workload.'),
      resourceVersion: text('The version of the workload at which its instrumentation was last seen to change.'),
      state: text(
        '`OnTrial` while its pods are watched, `Proven` once they have run; left out where no pods are watched.',
      ),
    },
  },
};

const status: Schema = {
  type: 'object',
  description: 'What Lumigo found and did in this namespace.',
  properties: {
    conditions,
    instrumentedResources,
    instrumentedResourcesCount: count(
      'How many workloads are instrumented, in all; in Pod mode, how many pods that run are injected.',
    ),
    observedGeneration: count('The generation of the spec that the status is about.'),
    podsHalted: {
      type: 'object',
      description: 'In Pod mode: why no pod is injected for now, and what that holds for.',
      properties: {
        at: text('Since when.'),
        cause: text('What spoke against the injection, in one word.'),
        evidence: text('The same in a sentence: pod, container, reason, exit code, last words.'),
        template: text('The generation of the spec that it holds for.'),
        injection: text('A fingerprint of what was injected.'),
        retry: text('A fingerprint of what the annotation lumigo.retry said.'),
      },
    },
    secretVersion: text('The version of the Secret that the token was last read from.'),
  },
};

export const lumigoSchema: Schema = {
  type: 'object',
  description: 'Activates Lumigo in its namespace. At most one acts per namespace: the oldest.',
  required: ['spec'],
  properties: {
    apiVersion: text('The version of the schema of this object.'),
    kind: text('The kind of this object.'),
    metadata: { type: 'object' },
    spec,
    status,
  },
};
