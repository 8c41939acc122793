import { conditionTypes } from '../../runtime/api/conditions.ts';
import { selectorSchema } from './selector-schema.ts';
import { tracerSettingsSchema } from './tracer-settings-schema.ts';

/** The API server sets the defaults, so they need no webhook. A parent's default `{}` makes the defaults of its children apply. */

type Schema = Readonly<Record<string, unknown>>;

const flag = (value: boolean, description: string): Schema => ({ type: 'boolean', default: value, description });

const count = (description: string): Schema => ({ type: 'integer', format: 'int64', minimum: 0, description });

const text = (description: string): Schema => ({ type: 'string', description });

const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });

const section = (description: string, properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  default: {},
  description,
  properties,
});

/** A CEL rule has a clearer message than `minLength` for an empty or blank name. */
const reference = (description: string, blank: string): Schema => ({
  ...text(description),
  minLength: 1,
  maxLength: 253,
  'x-kubernetes-validations': [{ rule: "self.matches('\\\\S')", message: blank }],
});

const secretRef: Schema = {
  type: 'object',
  description: 'The Secret in the same namespace that contains the Lumigo token.',
  required: ['name', 'key'],
  properties: {
    name: reference('The name of the Secret.', 'must be the name of the Secret that contains the Lumigo token'),
    key: reference('The key of the token in the Secret.', 'must be the key of the Lumigo token in the Secret'),
  },
};

const spec: Schema = {
  type: 'object',
  description: 'The desired tracing and logging of this namespace.',
  required: ['lumigoToken'],
  properties: {
    lumigoToken: {
      type: 'object',
      description: 'The Lumigo token that telemetry is sent with.',
      required: ['secretRef'],
      properties: { secretRef },
    },
    tracing: section('Distributed tracing of the workloads in this namespace.', {
      enabled: flag(true, 'Instrumented workloads send traces. Default: true.'),
      env: tracerSettingsSchema,
      injection: section('The injection of the Lumigo tracers into workloads.', {
        enabled: flag(true, 'The operator instruments workloads. Default: true.'),
        mode: {
          type: 'string',
          enum: ['Workload', 'Pod'],
          default: 'Workload',
          description:
            'The objects that the operator injects into. Workload (default): the pod templates of workloads. Pod: each pod when it is created, so that no workload changes. Pod needs the setting injection.podMode of the operator, and Kubernetes 1.36.',
        },
        selector: selectorSchema,
        injectLumigoIntoExistingResourcesOnCreation: flag(
          true,
          'The operator also instruments workloads that exist before this Lumigo resource, which restarts their pods. Default: true.',
        ),
        removeLumigoFromResourcesOnDeletion: flag(
          true,
          'The operator removes the instrumentation when this Lumigo resource is deleted, which restarts the pods. Default: true.',
        ),
      }),
    }),
    logging: section('Logs of the workloads in this namespace.', {
      enabled: flag(false, 'Instrumented workloads send their logs. Default: false.'),
    }),
    infrastructure: section('Telemetry that Kubernetes itself has about this namespace.', {
      enabled: flag(true, 'The operator collects this telemetry. Default: true.'),
      kubeEvents: section('Kubernetes events of this namespace, and the objects that they are about.', {
        enabled: flag(true, 'The operator collects them. Default: true.'),
      }),
    }),
  },
};

const meanings = Object.entries(conditionTypes).map(([type, { means }]) => `${type}: ${means}`);

/** A condition of the original operator has no reason. If the schema refused it, the object's finalizer could not be removed. */
const conditions: Schema = {
  type: 'array',
  description: `Conditions. ${meanings.join(' ')} A type is missing until the operator has something to report about it.`,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status'],
    properties: {
      type: { ...text('The type of the condition.'), maxLength: 316 },
      status: { ...text('True, False, or Unknown.'), enum: ['True', 'False', 'Unknown'] },
      reason: { ...text('The reason for the status, in one word for programs.'), maxLength: 1024 },
      message: { ...text('The reason for the status, in a sentence for people.'), maxLength: 32768 },
      lastTransitionTime: time('The time of the last change of the status.'),
      observedGeneration: count('The generation of the Lumigo resource that the condition describes.'),
    },
  },
};

const instrumentedResources: Schema = {
  type: 'array',
  description: 'The instrumented workloads, sorted. At most the first 1,000 of them.',
  'x-kubernetes-list-type': 'atomic',
  items: {
    type: 'object',
    properties: {
      apiVersion: text('The API version of the workload.'),
      kind: text('The kind of the workload.'),
      namespace: text('The namespace of the workload.'),
      name: text('The name of the workload.'),
      uid: text('The UID of the workload.'),
      resourceVersion: text('The resourceVersion of the workload after the last change of its instrumentation.'),
      state: text(
        '`RollingOut` while its pods are replaced, `Verified` after they ran well. Missing if neither is known.',
      ),
      telemetry: text(
        '`Received` after telemetry arrived from the workload, `NothingYet` before. Missing if none is expected.',
      ),
      telemetrySince: time(
        'The time of the first telemetry. With `NothingYet`, the time since when its pods run with the injection.',
      ),
    },
  },
};

/** Without a status, `helm --wait` and GitOps tools would count a new resource as ready. Flux does the same. */
const unobserved = { observedGeneration: -1 };

const status: Schema = {
  type: 'object',
  description: 'The observed state of this namespace.',
  default: unobserved,
  properties: {
    conditions,
    instrumentedResources,
    instrumentedResourcesCount: count(
      'The number of instrumented workloads. In Pod mode: the number of running pods with the injection.',
    ),
    observedGeneration: {
      ...count('The generation of the spec that the status describes; -1 before the first.'),
      minimum: unobserved.observedGeneration,
    },
    injector: {
      type: 'object',
      description: 'The reason why the webhook does not inject new workloads. Missing if it does.',
      properties: {
        health: text(
          '`unverified` while a workload is about to show whether the injector runs: workloads without pods wait. `failing` after workloads failed with the injection, or while a policy refuses it in a namespace without an instrumented workload: no new workload is injected.',
        ),
        why: text('The reason in a sentence.'),
      },
    },
    secretVersion: text('The resourceVersion of the Secret when its token was last read.'),
  },
};

export const lumigoSchema: Schema = {
  type: 'object',
  description:
    'A Lumigo resource activates Lumigo in its namespace. If a namespace has more than one, only the oldest has an effect.',
  required: ['spec'],
  properties: {
    apiVersion: text('The API version of this object.'),
    kind: text('The kind of this object.'),
    metadata: { type: 'object' },
    spec,
    status,
  },
};
