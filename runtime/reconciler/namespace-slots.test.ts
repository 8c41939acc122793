import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MAX_NAMESPACES, NamespaceSlots, TURN_MS } from './namespace-slots.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function slots() {
  const told = [] as string[];
  const asked = new NamespaceSlots((namespace) => told.push(namespace));
  return { asked, told };
}

const holders = Array.from({ length: MAX_NAMESPACES }, (_, index) => `holder-${index}`);

describe('the turns of namespaces', () => {
  it('tells the next namespace if another one needs its turn no more', () => {
    const { asked, told } = slots();
    for (const each of [...holders, 'next']) asked.want(each, true);
    expect([told, asked.has('next')]).toEqual([holders, false]);
    asked.want('holder-1', false);
    expect([told, asked.has('next')]).toEqual([[...holders, 'next'], true]);
  });

  it('tells the next namespace if a turn ends by time while any namespace asks', () => {
    const { asked, told } = slots();
    for (const each of [...holders, 'next']) asked.want(each, true);
    jest.advanceTimersByTime(TURN_MS);
    asked.has('any');
    expect([told, asked.has('next'), asked.has('holder-3')]).toEqual([[...holders, 'next'], true, false]);
  });

  it('ends no turn while no other namespace waits', () => {
    const { asked } = slots();
    for (const each of holders) asked.want(each, true);
    jest.advanceTimersByTime(10 * TURN_MS);
    expect(holders.every((each) => asked.has(each))).toBe(true);
  });

  it('cost no more if thousands wait', () => {
    const { asked } = slots();
    const used = process.cpuUsage();
    for (let index = 0; index < 10_000; index += 1) asked.want(`namespace-${index}`, true);
    expect(process.cpuUsage(used).user).toBeLessThan(1_000_000);
  });
});
