import { openSync, writeFileSync } from 'node:fs';
import { collectBundle } from '../diagnostics/bundle.ts';
import { checkContext } from '../diagnostics/check-context.ts';
import { hideSecrets } from '../diagnostics/redact.ts';
import { inCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';
import { formatted } from './output.ts';

interface Flags {
  readonly namespace?: string;
  /** `-`: standard output. */
  readonly output: string;
}

export const run = inCluster(async ({ client, transport, step }, invocation: Invocation<Flags>) => {
  const { namespace, output } = invocation.flags;
  // It fails before the cluster is read, which can take minutes.
  const file = output === '-' ? undefined : openSync(output, 'w', 0o600);
  const context = checkContext({ client, transport, namespace, environment: invocation.environment });
  const bundle = await collectBundle({ ...context, step });
  const text = await formatted('yaml', hideSecrets(bundle), String);
  if (file === undefined) return invocation.print(text);
  writeFileSync(file, `${text}\n`);
  invocation.note(`Wrote ${output}. It has no Secret and no token. Read it before you send it to support.`);
});
