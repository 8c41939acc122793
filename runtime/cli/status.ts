import { setTimeout as sleep } from 'node:timers/promises';
import { readStatus } from '../diagnostics/read-status.ts';
import { renderStatus } from '../diagnostics/rollout-status.ts';
import { decisionContext, inCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';
import { formatted, type Format } from './output.ts';

interface Flags {
  readonly namespace?: string;
  readonly watch?: boolean;
  readonly output: Format;
}

const PAUSE_MS = 2_000;
const CLEAR = '\u001b[2J\u001b[H';

export const run = (invocation: Invocation<Flags>): Promise<void> =>
  inCluster(invocation, async (cluster) => {
    const { flags, isTerminal, write } = invocation;
    const namespace = flags.namespace ?? cluster.connection.namespace ?? 'default';
    cluster.step(`reading the workloads in ${namespace}`);
    const context = await decisionContext(cluster, invocation, namespace);
    for (let before = ''; ; await sleep(PAUSE_MS)) {
      const status = await readStatus({ ...context, namespace });
      const text = await formatted(flags.output, status, (all) => renderStatus(all, invocation.paint));
      if (text !== before) write(flags.watch === true && isTerminal ? `${CLEAR}${text}` : text);
      if (flags.watch !== true || status.isComplete) return;
      before = text;
    }
  });
