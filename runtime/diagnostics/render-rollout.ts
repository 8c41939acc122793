import type { RuntimeConfig } from '../config/config.ts';
import { restarts } from '../rollout/shape.ts';
import { inOrder, wavesOf } from '../rollout/turns.ts';
import { outlook } from './render-verdicts.ts';
import type { Verdict } from './verdict.ts';

export type Pace = Pick<RuntimeConfig, 'rolloutStrategy' | 'rolloutSoakSeconds' | 'rolloutLargestWave'>;

/** What pods are taken to need until they are ready. */
const START_SECONDS = 10;
/** How many workloads of a wave are named. */
const NAMED = 5;

/** In which order the workloads of a namespace would change, and how long that takes; nothing where no pod restarts. */
export function renderRollout(verdicts: readonly Verdict[], pace: Pace): string[] {
  const changing = verdicts.filter((each) => restarts(each.shape) && ['instrument', 'update'].includes(outlook(each)));
  if (changing.length === 0) return [];
  if (pace.rolloutStrategy !== 'progressive')
    return [`  Rollout (${pace.rolloutStrategy}): ${changing.length} whose pods restart`];
  const ready = inOrder(changing.filter(({ shape }) => shape.blocked === undefined).map(waitingOf));
  const waves = wavesOf(ready.length, pace.rolloutLargestWave);
  const seconds = waves.length * (START_SECONDS + pace.rolloutSoakSeconds);
  const lines = waves.map((size, index) => {
    const from = waves.slice(0, index).reduce((sum, each) => sum + each, 0);
    const names = ready.slice(from, from + size).map(({ kind, name }) => `${kind}/${name}`);
    return `    ${index + 1}. ${names.slice(0, NAMED).join(', ')}${size > NAMED ? `, and ${size - NAMED} more` : ''}`;
  });
  const blocked = changing.flatMap(({ kind, name, shape }) =>
    shape.blocked === undefined ? [] : [`    later: ${kind.kind}/${name} ${shape.blocked.message}`],
  );
  return [`  Rollout, some ${seconds} s where pods start within ${START_SECONDS} s:`, ...lines, ...blocked];
}

const waitingOf = ({ kind, name, shape }: Verdict) => ({ kind: kind.kind, name, shape });
