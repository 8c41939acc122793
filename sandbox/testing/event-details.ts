import type { EventDetails } from '../../runtime/kubernetes/resources/events.ts';

/** Details of an event on a Deployment `cart`. */
export const eventDetails = (namespace: string, changes: Partial<EventDetails> = {}): EventDetails => ({
  regarding: { apiVersion: 'apps/v1', kind: 'Deployment', namespace, name: 'cart', uid: '6f3c', resourceVersion: '7' },
  reason: 'LumigoAddedInstrumentation',
  message: 'Lumigo instrumentation added',
  key: 'added/1',
  now: new Date(),
  version: '1.2.3',
  instance: 'manager-0',
  ...changes,
});
