type Subject = 'workload' | 'Lumigo' | "operator's Deployment";

const normal = (on: Subject, means: string) => ({ type: 'Normal' as const, on, means });
/** `action`: the remedy. */
const warning = (on: Subject, means: string, action: string) => ({ type: 'Warning' as const, on, means, action });

const refused =
  'Read the event or the condition `Active`. `lumigo preview` lists all such workloads, except those that are refused to the operator alone.';

/** The events of the operator by reason. docs/reference/events.md is this table. */
export const events = {
  LumigoAddedInstrumentation: normal('workload', 'The injection was added.'),
  LumigoUpdatedInstrumentation: normal(
    'workload',
    'The injection was renewed: the Secret, the flags or the pod template changed, or a part was missing.',
  ),
  LumigoRemovedInstrumentation: normal('workload', 'The workload is as it was before.'),
  LumigoCannotAddInstrumentation: warning(
    'workload',
    'The workload cannot be instrumented, or the API server refused the change. The operator retries a refused change.',
    refused,
  ),
  LumigoCannotUpdateInstrumentation: warning(
    'workload',
    'The workload cannot be read or is too large to be changed, or the API server refused the renewal.',
    refused,
  ),
  LumigoCannotRemoveInstrumentation: warning(
    'workload',
    'A Job keeps its injection, the workload is too large to be changed, or the API server refused the removal.',
    'Delete the Job, or fix the cause in the event.',
  ),
  LumigoRevertedInstrumentation: warning(
    'workload',
    'Pods failed with the injection, and the operator removed it. The event has container, reason and exit code.',
    'Fix the cause, then set the annotation `lumigo.retry`.',
  ),
  LumigoInstrumentationContested: warning(
    'workload',
    'Another writer undid the change.',
    'Do one of these: (1) Let the changes of that writer pass through the webhook. (2) Inject pods instead of workloads (`spec.tracing.injection.mode: Pod`). (3) Opt the workload out with the label `lumigo.auto-trace: "false"`.',
  ),
  LumigoRolloutHalted: warning(
    'Lumigo',
    'No further workload of the namespace is changed.',
    'Read the condition `RolledOut`.',
  ),
  LumigoTokenRefused: warning(
    'Lumigo',
    'Lumigo refuses the token. The condition `TokenAccepted` became False.',
    'Put a valid token into the Secret, then restart the workloads.',
  ),
  LumigoCannotCollectTelemetry: warning(
    'Lumigo',
    'The telemetry proxy rejected a configuration.',
    'Read the log of the telemetry proxy.',
  ),
  LumigoOperatorStandsBy: warning(
    "operator's Deployment",
    'An older installation is active in the cluster, so this one changes nothing.',
    '[Remove one of the two](../operate/uninstall.md#remove-one-of-two-installations).',
  ),
  LumigoOperatorUpdated: normal(
    "operator's Deployment",
    'The updater upgraded the operator from one version to another.',
  ),
  LumigoOperatorUpToDate: normal(
    "operator's Deployment",
    'No newer version is in the range, or that version failed or was rolled back before.',
  ),
  LumigoOperatorUpdateAvailable: {
    ...normal("operator's Deployment", 'In the mode `check`: there is a newer version.'),
    action: '[Upgrade](../operate/upgrade.md) to it.',
  },
  LumigoCannotUpdateOperator: warning(
    "operator's Deployment",
    'The signature does not verify, the repository does not answer, the new version was rolled back, or another operation is pending.',
    "Read the log of the updater's Job.",
  ),
};

export type EventReason = keyof typeof events;
