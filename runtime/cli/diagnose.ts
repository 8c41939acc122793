import { accessSync, chmodSync, closeSync, constants, openSync, statSync, writeFileSync } from 'node:fs';
import { collectBundle } from '../diagnostics/bundle.ts';
import { checkContext } from '../diagnostics/check-context.ts';
import { hideSecrets } from '../diagnostics/redact.ts';
import { withCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';
import { formatted } from './output.ts';

interface Flags {
  readonly namespace?: string;
  /** `-`: standard output. */
  readonly output: string;
}

export const run = withCluster(async ({ client, transport, step }, invocation: Invocation<Flags>) => {
  const { namespace, output } = invocation.flags;
  if (output !== '-') expectWritable(output);
  const context = checkContext({ client, transport, namespace, environment: invocation.environment });
  const bundle = await collectBundle({ ...context, step });
  const text = await formatted('yaml', hideSecrets(bundle), String);
  if (output === '-') return invocation.write(text);
  writeFileSync(output, `${text}\n`, { mode: 0o600 });
  invocation.note(`Wrote ${output}. It has no Secret and no token. Read it before you send it to support.`);
});

/** Creates the file. Fails before the cluster is read, which can take minutes. @throws Error */
function expectWritable(file: string): void {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    // The reader of a pipe would see its end.
    if (found?.isFile() === false && !found.isDirectory()) return accessSync(file, constants.W_OK);
    closeSync(openSync(file, 'a', 0o600));
    chmodSync(file, 0o600);
  } catch (cause) {
    throw new Error(`cannot write ${file}. Name another file, or print with --output -`, { cause });
  }
}
