import { describe, expect, it } from '@jest/globals';
import { judgeProbes, type Probed } from './judge-probes.ts';

const at = (address: string | undefined, reach: Probed['reach']): Probed => ({ address, reach });
const injector = { reached: 'injector' } as const;
const silent = { unknown: 'cannot be reached', unanswered: true } as const;
const failed = { unreached: { reason: 'ProbeFailed', message: 'The API server did not call' } };

describe('F29: what the answers of several API servers mean', () => {
  it.each<[string, readonly Probed[], object | undefined]>([
    [
      'one, by whatever way',
      [at(undefined, injector)],
      { reachable: true, message: 'The API server reaches the injector webhook' },
    ],
    [
      'all',
      [at('10.0.0.1:6443', injector), at('10.0.0.2:6443', injector)],
      { reachable: true, message: 'All 2 API servers that answered reach the injector webhook' },
    ],
    [
      'one of three that does not reach it',
      [at('10.0.0.1:6443', injector), at('10.0.0.2:6443', failed), at('10.0.0.3:6443', injector)],
      {
        reachable: false,
        reason: 'ProbeFailed',
        message: 'The API server did not call. This applies to the API server at 10.0.0.2:6443',
      },
    ],
    [
      'one that cannot be asked',
      [at('10.0.0.1:6443', injector), at('10.0.0.2:6443', silent)],
      {
        reachable: true,
        message:
          "The API server reaches the injector webhook. Not checked, because the operator's pod gets no answer there: 10.0.0.2:6443",
      },
    ],
    ['none that can be asked', [at('10.0.0.1:6443', silent), at(undefined, silent)], undefined],
  ])('%s', (_case, probed, seen) => {
    const judged = judgeProbes(probed);
    if (seen === undefined) expect(judged).toBeUndefined();
    else expect(judged).toMatchObject(seen);
  });
});
