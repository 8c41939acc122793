import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { aborted } from '../async/aborted.ts';
import { leadAll, runAll, type Runnable } from './runnable.ts';

const logger = pino({ enabled: false });

const runnable = (name: string, log: string[]): Runnable => ({
  name,
  run: async (signal) => {
    log.push(`+${name}`);
    await aborted(signal);
    await turn();
    log.push(`-${name}`);
  },
});

describe('the runnables of the manager', () => {
  it('start in the order of the list, and stop one after the other in the reverse order', async () => {
    const log: string[] = [];
    const stop = new AbortController();
    const running = runAll(
      ['a', 'b', 'c'].map((name) => runnable(name, log)),
      stop.signal,
      logger,
    );
    expect(log).toEqual(['+a', '+b', '+c']);
    stop.abort();
    await running;
    expect(log).toEqual(['+a', '+b', '+c', '-c', '-b', '-a']);
  });

  it('stop if one of them fails, and the manager exits with its cause [F12]', async () => {
    const log: string[] = [];
    const failing: Runnable = { name: 'port', run: () => Promise.reject(new Error('port 9443 is taken')) };
    const { signal } = new AbortController();
    await expect(runAll([runnable('a', log), failing, runnable('c', log)], signal, logger)).rejects.toThrow(
      'port 9443',
    );
    expect(log).toEqual(['+a', '+c', '-c', '-a']);
  });

  it('stop together at the end of the term if they need to lead; a failure names the runnable', async () => {
    const stop = new AbortController();
    const term = { signal: stop.signal, fence: () => undefined, previousRenewTime: undefined };
    const ended: string[] = [];
    const leads = (name: string) => ({
      name,
      needsToLead: true as const,
      run: async () => {
        await aborted(stop.signal);
        ended.push(name);
      },
    });
    const leading = leadAll([leads('a'), leads('b')], term);
    stop.abort();
    await leading;
    expect(ended).toEqual(['a', 'b']);
    const failing = { name: 'watch', needsToLead: true as const, run: () => Promise.reject(new Error('cause')) };
    const alive = { ...term, signal: new AbortController().signal };
    await expect(leadAll([failing], alive)).rejects.toThrow('watch failed');
  });
});
