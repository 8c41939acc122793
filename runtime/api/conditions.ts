/** The conditions of a `Lumigo` resource and their reasons. docs/reference/conditions.md is this table. */

interface ConditionEntry {
  /** The meaning of the status True. */
  readonly means: string;
  /** Missing until there is something to report. */
  readonly onRequest?: true;
  readonly reasons: Readonly<Record<string, ReasonEntry>>;
}

interface ReasonEntry {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly means: string;
  /** The remedy. Missing: none is needed. */
  readonly action?: string | undefined;
}

const yes = (means: string, action?: string): ReasonEntry => ({ status: 'True', means, action });
const no = (means: string, action?: string): ReasonEntry => ({ status: 'False', means, action });

const newToken = 'Put a valid token into the Secret, then restart the workloads.';

export const conditionTypes = {
  Ready: {
    means:
      'The operator acts, Lumigo accepts the token, and the API server reaches the webhook or has the policy of Pod mode. If False, its reason is that of the condition that failed.',
    reasons: {
      Ready: yes('Lumigo works in the namespace. The message says if a result is missing.'),
      Checking: { status: 'Unknown', means: 'The first results for this spec are awaited, at most 30 s.' },
      Deleting: no('The `Lumigo` resource is being deleted.'),
    },
  },
  Reconciling: {
    means: '`Ready` waits for the first results for this spec. The condition exists only while it is True.',
    reasons: { Checking: yes('The first results for this spec are awaited, at most 30 s.') },
  },
  Stalled: {
    means:
      'Waiting does not help. Change the `Lumigo` resource or its token. Its reason is that of `Ready`. The condition exists only while it is True.',
    reasons: {},
  },
  Active: {
    means:
      'The operator acts in the namespace. The message counts workloads that wait, fail or run an older injection, and has the problem of the first that fails.',
    reasons: {
      Ready: yes('The operator acts.'),
      Deleting: no('The `Lumigo` resource is being deleted. The operator removes the injections first.'),
    },
  },
  Error: {
    means: 'Something prevents the operator from acting. `Active` is then False with the same reason.',
    reasons: {
      NoError: no('Nothing prevents it.'),
      SecretReferenceMissing: yes('The resource names no Secret or no key.', 'Set `spec.lumigoToken.secretRef`.'),
      SecretNotFound: yes('The Secret does not exist.', 'Create it in the same namespace.'),
      SecretKeyNotFound: yes('The Secret does not have the key.', 'Add the key, or name another one.'),
      SecretForbidden: yes('The operator may not read the Secret.', 'Apply the manifests of the operator again.'),
      SecretTooLarge: yes('The Secret has more than 4 MiB as JSON.', 'Make it smaller, or name another one.'),
      SecretUnreadable: yes('The API server did not answer the read.', 'Wait: the operator reads it again.'),
      TokenMalformed: yes(
        'The value is not a token, or has white space around it.',
        'Write the token again, without a line break.',
      ),
      DuplicateLumigo: yes('An older `Lumigo` resource is in effect in the namespace.', 'Delete one of the two.'),
      NamespaceExcluded: yes(
        'The operator never instruments workloads in this namespace.',
        'Create the `Lumigo` resource in the namespace of your workloads.',
      ),
      TracerSettingRefused: yes(
        'A setting in `spec.tracing.env` has a name or value that is not permitted.',
        'Follow the message.',
      ),
      PodModeOff: yes('The installation does not offer Pod mode.', 'Follow the message, or use the mode `Workload`.'),
    },
  },
  WebhookReachable: {
    means: 'The API server reached the webhook at the last probe.',
    reasons: {
      ProbeSucceeded: yes('The API server called the webhook.'),
      ProbeTimedOut: no('The webhook did not answer in time.', 'Check firewalls, NetworkPolicies and the CNI.'),
      ProbeFailed: no(
        'The API server did not call the webhook, or does not trust its certificate.',
        'Apply the manifests again. Check the `caBundle` and the endpoints of the Service.',
      ),
      ProbeRefused: no('The webhook configuration has `failurePolicy: Fail`.', 'Set it to `Ignore`.'),
    },
  },
  TelemetryProxyReady: {
    means: 'The telemetry proxy uses its last configuration.',
    reasons: {
      ConfigurationTaken: yes('It collects all telemetry that the `Lumigo` resources request.'),
      ReloadFailed: no(
        'It rejects the configuration. Traces continue, and Kubernetes events follow the former one.',
        'Read the log of the telemetry proxy.',
      ),
    },
  },
  RolledOut: {
    means: 'All workloads that can be instrumented are instrumented.',
    onRequest: true,
    reasons: {
      Complete: yes('No injection failed while the operator watched it.'),
      Progressing: no('Workloads are being changed, or are queued.'),
      Halted: no('No further workload is changed after reverts.', 'Fix the cause, then retry a reverted workload.'),
      Reverted: no(
        'Workloads failed with the injection, and were reverted. A Job keeps the injection.',
        'Fix the cause in the message, then retry.',
      ),
      Blocked: no(
        'Workloads are paused, unhealthy, in their own rollout, or changed back by another writer.',
        'Wait, resume them, or do what `lumigo explain` says.',
      ),
      Unready: no(
        'A new leader found older injections whose pods do not all run. It does not judge them.',
        'Wait, or repair the workloads.',
      ),
      LeftForNow: no(
        'The setting `rollout.strategy` leaves them until their pod template changes.',
        'Deploy them, or set the annotation `lumigo.retry` with `manual`.',
      ),
      Stopped: { status: 'Unknown', means: 'The resource has an error, injects nothing or is being deleted.' },
      PodsWithoutInjection: no(
        'In Pod mode: pods run that are older than the injection.',
        'Restart their workloads (`kubectl rollout restart`), or delete the pods.',
      ),
    },
  },
  InjectionsCurrent: {
    means: "Every injection sends to this installation's telemetry proxy.",
    onRequest: true,
    reasons: {
      Current: yes('Every injection sends to it.'),
      OtherEndpoint: no(
        'Injections send to the address of a former installation.',
        'Deploy the workloads, or set `injection.updateOnUpgrade`.',
      ),
    },
  },
  TokenAccepted: {
    means: 'Lumigo accepts the token.',
    reasons: {
      Accepted: yes("Lumigo's endpoint accepts it."),
      TokenRefused: no('Lumigo refuses it and drops the data of the namespace.', newToken),
    },
  },
  TelemetryReceived: {
    means: 'Telemetry arrives from the instrumented workloads.',
    onRequest: true,
    reasons: {
      Received: yes('No workload has been silent for the time of the setting `telemetry.expectedWithinSeconds`.'),
      NothingReceived: no(
        'Nothing arrives from the workloads in the message.',
        'Go through the [checks](../use/telemetry.md#see-if-telemetry-arrives).',
      ),
    },
  },
  PodPolicyInstalled: {
    means: 'The API server has the policy of Pod mode.',
    reasons: {
      Installed: yes('New pods are injected.'),
      PodPolicyMissing: no(
        'New pods run without the injection.',
        'Set `injection.podMode`, or apply the manifests again.',
      ),
    },
  },
} as const satisfies Readonly<Record<string, ConditionEntry>>;

export type ConditionType = keyof typeof conditionTypes;

type ReasonsOf<T extends ConditionType> = T extends T ? keyof (typeof conditionTypes)[T]['reasons'] : never;
export type ConditionReason = ReasonsOf<ConditionType>;
