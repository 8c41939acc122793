import { setTimeout as sleep } from 'node:timers/promises';
import { readStatus, renderStatus } from '../diagnostics/rollout-status.ts';
import { ApiError, ConnectionError, isRefusal } from '../kubernetes/http/errors.ts';
import { describeError } from '../wording/errors.ts';
import { decisionContext, withCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';
import { formatted, type OutputFlags } from './output.ts';

type Flags = OutputFlags & { readonly watch?: boolean };

const PAUSE_MS = 2_000;
const CLEAR = '\u001b[2J\u001b[H';

export const run = withCluster(async (cluster, invocation: Invocation<Flags>) => {
  const { flags, isTerminal, write } = invocation;
  const between = isTerminal ? CLEAR : { table: '', json: '', yaml: '---\n' }[flags.output];
  const namespace = flags.namespace ?? cluster.connection.namespace ?? 'default';
  cluster.step(`reading the workloads in ${namespace}`);
  const context = await decisionContext(cluster, invocation);
  for (let before = ''; ; await sleep(PAUSE_MS)) {
    const status = await readStatus({ ...context, namespace }).catch((error: unknown) => {
      const mayPass = error instanceof ConnectionError || (error instanceof ApiError && !isRefusal(error));
      if (flags.watch !== true || !mayPass) throw error;
      invocation.note(`Cannot read the status, retrying: ${describeError(error)}`);
    });
    if (status === undefined) continue;
    const text = await formatted(flags.output, status, (all) => renderStatus(all, invocation.paint));
    // The first one leaves the notes above it.
    if (text !== before) write(before === '' ? text : `${between}${text}`);
    if (flags.watch !== true || status.isComplete) return;
    before = text;
  }
});
