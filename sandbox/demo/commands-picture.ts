import { writeFileSync } from 'node:fs';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { runCommand } from '../manager/command.ts';
import { startNodeWithOperator } from '../node/operator.ts';
import { TestCluster } from '../testing/test-cluster.ts';
import { createLumigo, deployShop } from './node-steps.ts';
import { printerTo } from './printer.ts';
import { terminalPicture } from './terminal-picture.ts';
import { demoNamespace } from './workloads.ts';

/** `npm run picture:commands`: runs commands of `lumigo` on a real node, and draws their output into docs/commands.svg. */
const printer = printerTo((text) => process.stderr.write(text), false);
await ensureBundle();
const system = await startNodeWithOperator({ rollout: { soakSeconds: 5 } }, { onProgress: printer.aside });

async function show(...args: readonly string[]): Promise<readonly string[]> {
  const flags = ['--kubeconfig', system.node.kubeconfig];
  const { code, stdout, stderr } = await runCommand([...args, ...flags], { HOME: '/nonexistent' });
  if (code !== 0) throw new Error(`lumigo ${args.join(' ')} exited with ${code}: ${stderr}${stdout}`);
  return [`$ kubectl lumigo ${args.join(' ')}`, ...stdout.trimEnd().split('\n'), ''];
}

try {
  await deployShop({ system, printer });
  await createLumigo(system.node);
  await new TestCluster(system.node.client).waitForActive(demoNamespace);
  const shown = [
    await show('status', '-w', '-n', demoNamespace),
    await show('check', '--wait'),
    await show('explain', 'deployment/front', '-n', demoNamespace),
  ];
  writeFileSync('docs/commands.svg', terminalPicture('Commands of lumigo in a terminal', shown.flat()));
} finally {
  await system.node.stop();
}
process.exit();
