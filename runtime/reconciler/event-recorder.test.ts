import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Counter } from 'prom-client';
import { tracing } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';
import { injectionStatus, type InjectionStatus } from '../injection/injection-status.ts';
import { withRevert } from '../injection/revert.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { EventQueue } from '../kubernetes/resources/event-queue.ts';
import { EventRecorder } from './event-recorder.ts';
import { observeWorkload } from './workload-store.ts';

const policy: NamespacePolicy = { kind: 'deleting', lumigo: 'lumigo', remove: true };
const since = '2026-06-01T10:00:00.000Z';
const counter = (name: string) => new Counter({ name, help: name, labelNames: ['reason'], registers: [] });

const withInjectionStatus = (content: Pick<InjectionStatus, 'at' | 'change'>) =>
  observeWorkload(
    workloadKinds.deployment,
    injectionStatus({ namespace: 'shop', name: 'cart', uid: 'u' }, 'v1', { ...content, by: 'webhook', tracing }),
  );

function countEvents(report: (recorder: EventRecorder) => void): number {
  const metrics = { events: counter('posted'), eventsDropped: counter('dropped') };
  const events = new EventQueue({ logger: pino({ enabled: false }), metrics, onDrained: () => undefined });
  report(new EventRecorder({ events, since }));
  return events.pending('shop');
}

it.each([
  [
    'reports a change after the last reports of an earlier leader',
    { change: 'added', at: '2026-06-01T10:00:00.001Z' },
    1,
  ],
  ['skips a change that an earlier leader has reported [F11]', { change: 'added', at: '2026-06-01T09:59:59.999Z' }, 0],
  ['skips an adopted injection', { change: 'adopted', at: '2026-06-01T10:00:00.001Z' }, 0],
] as const)('%s', (_what, content, reports) => {
  expect(countEvents((recorder) => recorder.withInjectionStatus(withInjectionStatus(content), policy))).toBe(reports);
});

const bare: Metadata = { namespace: 'shop', name: 'cart', uid: 'u' };
const observed = (metadata: Metadata) => observeWorkload(workloadKinds.deployment, metadata);
const revert = { at: since, cause: 'Crash', attempt: 1, key: '0'.repeat(16), evidence: 'it exits' } as const;

it.each([
  ['reports a removal that only the watch has shown', withInjectionStatus({ change: 'added', at: since }), 1],
  ['skips the end of a revert, which removes no injection', observed(withRevert(bare, revert)), 0],
] as const)('%s', (_what, before, reports) => {
  expect(countEvents((recorder) => recorder.seen(observed(bare), before, policy))).toBe(reports);
});
