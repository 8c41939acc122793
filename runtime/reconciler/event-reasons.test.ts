import { describe, expect, it } from '@jest/globals';
import {
  active,
  changed as written,
  decided,
  failedIn,
  instrumented,
  made,
  older,
  tracing,
  withMetadata,
} from '../../sandbox/testing/injection.ts';
import { labels, workloadKinds } from '../contract.ts';
import type { Decision, DecisionInput } from '../injection/decision.ts';
import { changeFor, isBlocked, type Code } from '../injection/decision.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { cannot, changed } from './describe-events.ts';
import { observeWorkload } from './workload-store.ts';

/** Each other code of a decision has one of the six event reasons of the requirements. */

const { job } = workloadKinds;
const none: NamespacePolicy = { kind: 'none' };
const deleting: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const withLabels = (workload: Workload, own: Readonly<Record<string, string>>): Workload =>
  withMetadata(workload, { labels: own });
const withEnv = (workload: Workload, count: number): Workload => {
  const text = JSON.stringify({ ...workload, spec: { ...(workload['spec'] as object) } });
  const more = Array.from({ length: count }, (_, index) => `{"name":"e${index}"}`).join(',');
  return JSON.parse(text.replace('"env":[', `"env":[${more},`)) as Workload;
};

const optIn = { [labels.autoTrace]: 'true' };
const optOut = { [labels.autoTrace]: 'false' };
const refusing = { pod: { volumes: [{ name: 'lumigo-injector', emptyDir: {} }] } };
const env = [{ name: 'A' }];
const LARGE = 25_000;
const NEARLY_LARGE = 3_310;

const ADDED = 'LumigoAddedInstrumentation';
const UPDATED = 'LumigoUpdatedInstrumentation';
const REMOVED = 'LumigoRemovedInstrumentation';
const CANNOT_ADD = 'LumigoCannotAddInstrumentation';
const CANNOT_UPDATE = 'LumigoCannotUpdateInstrumentation';
const CANNOT_REMOVE = 'LumigoCannotRemoveInstrumentation';

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;
/** Nothing is tried with these, as the tests of the decision show, so they have no event. */
type Silent =
  | Words<'deleting other-kind job-update job-finished opted-out excluded windows left-to-owner'>
  | Words<'left-behind architecture no-lumigo disabled inactive lumigo-deleting pod-mode mirror-pod'>
  | Words<'no-pod-mode not-selected existing-left up-to-date reverted injector-failing'>
  | Words<'injector-unverified kept restored relabelled'>;

type Row = readonly [reason: string, situation: string, workload: Workload, more?: Partial<DecisionInput>];

const injectedJob = instrumented(made({}, job));
const injectedByOlder = written(decided(made(), { operation: 'CREATE', injector: older }));
const injected = withEnv(instrumented(made({ env })), LARGE);
const malformed = JSON.parse(JSON.stringify(instrumented()).replace('"volumes":[', '"volumes":[null,')) as Workload;
const otherSettings = { policy: { ...active, tracing: { ...tracing, logs: true } } };
const optedInWithLogs = made({ labels: { ...optIn, [labels.enableLogs]: 'true' } });

const table: Readonly<Record<Exclude<Code, Silent>, readonly Row[]>> = {
  'too-large': [
    [CANNOT_ADD, 'is too large', withEnv(made({ env }), LARGE)],
    [CANNOT_ADD, 'would be too large', withEnv(made({ env }), NEARLY_LARGE)],
    [CANNOT_ADD, 'opts in and is too large', withEnv(made({ env, labels: optIn }), LARGE), { policy: none }],
    [CANNOT_UPDATE, 'is injected and too large to renew', injected],
    [CANNOT_REMOVE, 'is injected, opts out and is too large', withLabels(injected, optOut)],
    [CANNOT_REMOVE, 'is injected, too large, and its Lumigo is deleted', injected, { policy: deleting }],
  ],
  'no-template': [
    [CANNOT_UPDATE, 'is injected and malformed', malformed],
    [CANNOT_REMOVE, 'is injected and malformed, and its Lumigo is deleted', malformed, { policy: deleting }],
  ],
  refused: [
    [CANNOT_ADD, 'has a volume of the same name', made(refusing)],
    [CANNOT_ADD, 'opts in without a Lumigo and has it', made({ ...refusing, labels: optIn }), { policy: none }],
  ],
  'job-immutable': [
    [CANNOT_ADD, 'is an existing Job', made({}, job)],
    [CANNOT_ADD, 'is an existing Job that opts in without a Lumigo', made({ labels: optIn }, job), { policy: none }],
  ],
  'job-immutable-removal': [
    [CANNOT_REMOVE, 'is an injected Job whose Lumigo is deleted', injectedJob, { policy: deleting }],
    [CANNOT_REMOVE, 'is an injected Job that opts out', withLabels(injectedJob, optOut)],
  ],
  injected: [
    [ADDED, 'is new', made()],
    [UPDATED, 'is injected with other settings', instrumented(), otherSettings],
    [UPDATED, 'is injected by an older version that is to be renewed', injectedByOlder, { renew: true }],
  ],
  'opted-in': [
    [ADDED, 'opts in without a Lumigo', made({ labels: optIn }), { policy: none }],
    [UPDATED, 'opts in with other settings after its Lumigo', instrumented(optedInWithLogs), { policy: deleting }],
  ],
  removed: [
    [REMOVED, 'is injected, and its Lumigo is deleted', instrumented(), { policy: deleting }],
    [REMOVED, 'is injected and opts out', withLabels(instrumented(), optOut)],
    [REMOVED, 'is left behind', instrumented(), { policy: none }],
    [REMOVED, 'is reverted', instrumented(), { failed: failedIn(instrumented()) }],
  ],
};

const observed = observeWorkload(workloadKinds.deployment, { namespace: 'shop', name: 'app', uid: 'u' });

/** The reason does not depend on the namespace's policy, so each decision is described under every one. */
const getReasons = (decision: Decision): (string | undefined)[] => {
  const change = changeFor[decision.tried];
  const described = ([none, active, deleting] as const).map((policy) => {
    if (isBlocked(decision)) return cannot(observed, policy, decision).reason;
    return change === 'none' ? undefined : changed(observed, policy, change).reason;
  });
  return [...new Set(described)];
};

describe('a workload that', () => {
  const rows = Object.entries(table).flatMap(([code, found]) => found.map((row) => [row[1], code, ...row] as const));
  it.each(rows)('%s is decided as "%s" and gets %s [F78]', (_situation, code, reason, _title, workload, more = {}) => {
    const decision = decided(workload, more);
    expect(decision.code).toBe(code);
    expect(getReasons(decision)).toEqual([reason]);
  });
});
