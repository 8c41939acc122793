import { setTimeout as sleep } from 'node:timers/promises';
import { checkContext } from '../diagnostics/check-context.ts';
import { runChecks } from '../diagnostics/checks.ts';
import { renderFindings, type Finding } from '../diagnostics/finding.ts';
import { withCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';
import { formatted, type OutputFlags } from './output.ts';

interface Flags extends OutputFlags {
  /** `true` without a number. */
  readonly wait?: number | true;
}

const WAIT_SECONDS = 120;
const PAUSE_MS = 1_000;

const isFailed = ({ result }: Finding): boolean => result === 'failed';

export const run = withCluster(async ({ client, transport, step }, invocation: Invocation<Flags>) => {
  const { namespace, wait = 0, output } = invocation.flags;
  const until = Date.now() + (wait === true ? WAIT_SECONDS : wait) * 1_000;
  const look = () => runChecks(checkContext({ client, transport, namespace, environment: invocation.environment }));
  step('checking');
  let findings = await look();
  while (findings.some(isFailed) && Date.now() < until) {
    const failed = findings.filter(isFailed).map(({ check }) => check);
    step(`waiting for ${failed.join(', ')}`);
    await sleep(PAUSE_MS);
    findings = await look();
  }
  invocation.write(await formatted(output, findings, (all) => renderFindings(all, invocation.paint)));
  const bad = findings.filter(isFailed).length;
  if (bad > 0) throw new Error(`${bad} of ${findings.length} checks failed`);
  const hint = namespace === undefined ? '. For those of one namespace, pass -n' : '';
  if (findings.every(({ check, result }) => check === 'definition' || result === 'unknown'))
    throw new Error(`your account may make none of the checks${hint}`);
});
