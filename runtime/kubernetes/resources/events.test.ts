import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventDetails } from '../../../sandbox/testing/event-details.ts';
import { eventObject } from './events.ts';

const details = eventDetails('shop', { now: new Date('2030-01-01T00:00:00.123Z') });

const getName = (changes: Partial<Parameters<typeof eventObject>[0]>): string =>
  eventObject({ ...details, ...changes }).metadata.name ?? '';

describe('eventObject', () => {
  it('refers to the workload, in its namespace, to the second', () =>
    expect(eventObject(details)).toMatchObject({
      metadata: { namespace: 'shop' },
      involvedObject: details.regarding,
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:00Z',
      type: 'Normal',
      count: 1,
      reportingComponent: 'lumigo-operator',
      reportingInstance: 'manager-0',
    }));

  it('quotes no token, and no control sequence of a terminal [F29]', () => {
    const message = `its volume is mounted at /\u001b[2J of t_${'0123456789abcdef01234'}`;
    expect(eventObject({ ...details, message })).toMatchObject({ message: 'its volume is mounted at /�[2J of t_…' });
  });

  it('has the same name for the same change, from each replica and at any time', () =>
    expect(getName({ now: new Date(0), version: '2', instance: 'other', message: 'else' })).toBe(getName({})));

  it.each([
    ['change', { key: 'added/2' }],
    ['reason', { reason: 'LumigoRemovedInstrumentation' as const }],
    ['life of the object', { regarding: { ...details.regarding, uid: 'another' } }],
  ])('has another name for another %s', (_what, changes) => expect(getName(changes)).not.toBe(getName({})));

  it('contains the name of the object', () => expect(getName({})).toMatch(/^cart\.[0-9a-f]{16}$/));

  it('always has a name that the API server accepts', () => {
    const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
    const subdomain = fc.array(label, { minLength: 1, maxLength: 8 }).map((labels) =>
      labels
        .join('.')
        .slice(0, 253)
        .replace(/[-.]+$/, ''),
    );
    fc.assert(
      fc.property(subdomain, (name) => {
        const event = getName({ regarding: { ...details.regarding, name } });
        expect(event.length).toBeLessThanOrEqual(253);
        expect(event).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
      }),
    );
  });

  it('cuts a message that would be refused', () => {
    const { message } = eventObject({ ...details, message: 'x'.repeat(2000) }) as { message?: string };
    expect(message).toHaveLength(1024);
    expect(message).toMatch(/…$/);
  });
});
