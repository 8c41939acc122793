interface EventEntry {
  readonly type: 'Normal' | 'Warning';
  readonly on: 'workload' | 'Lumigo' | "operator's Deployment";
  readonly means: string;
  /** The remedy. Missing: none is needed. */
  readonly action?: string;
}

const refused = 'Read the event. `lumigo preview` lists all such workloads.';

/** The events of the operator by reason. docs/reference/events.md is this table. */
export const events = {
  LumigoAddedInstrumentation: { type: 'Normal', on: 'workload', means: 'The injection was added.' },
  LumigoUpdatedInstrumentation: {
    type: 'Normal',
    on: 'workload',
    means: 'The injection was renewed: the Secret, the flags or the pod template changed, or a part was missing.',
  },
  LumigoRemovedInstrumentation: { type: 'Normal', on: 'workload', means: 'The workload is as it was before.' },
  LumigoCannotAddInstrumentation: {
    type: 'Warning',
    on: 'workload',
    action: refused,
    means:
      'The workload cannot be instrumented, or the API server refused the change. The operator retries a refused change.',
  },
  LumigoCannotUpdateInstrumentation: {
    type: 'Warning',
    on: 'workload',
    action: refused,
    means: 'The workload is too large to be changed, or the API server refused the renewal.',
  },
  LumigoCannotRemoveInstrumentation: {
    type: 'Warning',
    on: 'workload',
    action: 'Delete the Job, or fix the cause in the event.',
    means: 'A Job keeps its injection, the workload is too large to be changed, or the API server refused the removal.',
  },
  LumigoRevertedInstrumentation: {
    type: 'Warning',
    on: 'workload',
    means:
      'Pods failed with the injection, and the operator removed it. The event has container, reason and exit code.',
    action: 'Fix the cause, then set the annotation `lumigo.retry`.',
  },
  LumigoInstrumentationContested: {
    type: 'Warning',
    on: 'workload',
    means: 'Another writer undid the change.',
    action: 'Let its changes pass through the webhook, use Pod mode, or opt the workload out.',
  },
  LumigoRolloutHalted: {
    type: 'Warning',
    on: 'Lumigo',
    means: 'No further workload of the namespace is changed.',
    action: 'Read the condition `RolledOut`.',
  },
  LumigoTokenRefused: {
    type: 'Warning',
    on: 'Lumigo',
    means: 'Lumigo refuses the token. The condition `TokenAccepted` became False.',
    action: 'Put a valid token into the Secret, then restart the workloads.',
  },
  LumigoCannotCollectTelemetry: {
    type: 'Warning',
    on: 'Lumigo',
    means: 'The telemetry proxy rejected a configuration.',
    action: 'Read the log of the telemetry proxy.',
  },
  LumigoOperatorStandsBy: {
    type: 'Warning',
    on: "operator's Deployment",
    means: 'An older installation is active in the cluster, so this one changes nothing.',
    action: '[Remove one of the two](../operate/uninstall.md#remove-one-of-two-installations).',
  },
  LumigoOperatorUpdated: {
    type: 'Normal',
    on: "operator's Deployment",
    means: 'The updater upgraded the operator from one version to another.',
  },
  LumigoOperatorUpToDate: {
    type: 'Normal',
    on: "operator's Deployment",
    means: 'No newer version is in the range, or that version failed or was rolled back before.',
  },
  LumigoOperatorUpdateAvailable: {
    type: 'Normal',
    on: "operator's Deployment",
    means: 'In the mode `check`: there is a newer version.',
    action: 'Follow the message to install it.',
  },
  LumigoCannotUpdateOperator: {
    type: 'Warning',
    on: "operator's Deployment",
    means:
      'The signature does not verify, the repository does not answer, the new version was rolled back, or another operation is pending.',
    action: "Read the log of the updater's Job.",
  },
} as const satisfies Readonly<Record<string, EventEntry>>;

export type EventReason = keyof typeof events;
