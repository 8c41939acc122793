import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Counter } from 'prom-client';
import { tracing } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import { injectionStatus, type InjectionStatus } from '../injection/injection-status.ts';
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

it.each([
  [
    'reports a change after the last reports of an earlier leader',
    { change: 'added', at: '2026-06-01T10:00:00.001Z' },
    1,
  ],
  ['skips a change that an earlier leader has reported [F11]', { change: 'added', at: '2026-06-01T09:59:59.999Z' }, 0],
  ['skips an adopted injection', { change: 'adopted', at: '2026-06-01T10:00:00.001Z' }, 0],
] as const)('%s', (_what, content, reports) => {
  const metrics = { events: counter('posted'), eventsDropped: counter('dropped') };
  const events = new EventQueue({ logger: pino({ enabled: false }), metrics, onDrained: () => undefined });
  new EventRecorder({ events, since }).withInjectionStatus(withInjectionStatus(content), policy);
  expect(events.pending('shop')).toBe(reports);
});
