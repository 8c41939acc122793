import { isBuilt } from '../programs/build.ts';
import { components, nodeComponents } from '../programs/components.ts';
import { areImagesBuilt } from '../images/images.ts';
import { startNodeWithOperator } from '../node/operator.ts';
import { whyNoNode } from '../node/requirements.ts';
import type { Printer } from './printer.ts';
import { deployShop, traceShop, untraceShop, type NodeDemo } from './node-steps.ts';
import { demoNamespace } from './workloads.ts';

/** Returns a sentence about `--node`, or undefined if a node can start without building. */
export function whyNotAtOnce(): string | undefined {
  if (whyNoNode() !== undefined) return 'on Linux as root, --node also traces real pods';
  if ([...components, ...nodeComponents].every(({ name }) => isBuilt(name)) && areImagesBuilt()) return undefined;
  return '--node also traces real Node.js and Python programs in real pods (the first time, it builds for about ten minutes)';
}

export async function demonstrateOnNode(
  printer: Printer,
  once: boolean,
  stay: (system: NodeDemo['system'], hints: readonly string[]) => Promise<void>,
): Promise<string[]> {
  const system = await startNodeWithOperator({ rollout: { soakSeconds: 2 } }, { onProgress: printer.aside });
  try {
    const demo = { system, printer };
    printer.step(`a node is ready at ${system.node.server}. The operator runs in two pods, 2/2 each`);
    await deployShop(demo);
    const problems = await traceShop(demo);
    if (problems.length > 0 || once) return [...problems, ...(await untraceShop(demo))];
    await stay(system, [
      `  kubectl get pods -A`,
      `  kubectl describe pod -l app=front -n ${demoNamespace}`,
      `  kubectl delete lumigo lumigo -n ${demoNamespace}     (then look at the pods again)`,
      `  curl ${system.sink.url}/sandbox/received     (all telemetry received in place of Lumigo)`,
    ]);
    return [];
  } finally {
    await system.node.stop();
  }
}
