import { isBuilt } from '../programs/build.ts';
import { components, nodeComponents } from '../programs/components.ts';
import { areImagesBuilt } from '../images/images.ts';
import { startNodeWithOperator } from '../node/operator.ts';
import { whyNoNode } from '../node/requirements.ts';
import type { Narrator } from './narrator.ts';
import { deployShop, traceShop, untraceShop, type NodeStory } from './node-story.ts';
import { demoNamespace } from './workloads.ts';

/** Whether the demo can run on a node at once; else the sentence that says what `--node` would add. */
export function nodeAtOnce(): true | string {
  if (whyNoNode() !== undefined) return 'with --node, on Linux as root, real pods are traced as well';
  const built = [...components, ...nodeComponents].every(({ name }) => isBuilt(name)) && areImagesBuilt();
  return (
    built ||
    'with --node, real Node.js and Python programs in real pods are traced as well (the first time it builds for some ten minutes)'
  );
}

/** The demo on a node. Returns what did not turn out as it should. */
export async function tellOnNode(
  narrator: Narrator,
  once: boolean,
  stay: (system: NodeStory['system'], hints: readonly string[]) => Promise<void>,
): Promise<string[]> {
  const system = await startNodeWithOperator({ onProgress: narrator.aside, settings: { rollout: { soakSeconds: 2 } } });
  try {
    const story = { system, narrator };
    narrator.step(`a node is ready at ${system.node.server}; the operator runs in two pods, 2/2 each`);
    await deployShop(story);
    const problems = await traceShop(story);
    if (problems.length > 0 || once) return [...problems, ...(await untraceShop(story))];
    await stay(system, [
      `  kubectl get pods -A`,
      `  kubectl describe pod -l app=front -n ${demoNamespace}`,
      `  kubectl delete lumigo lumigo -n ${demoNamespace}     (and look at the pods again)`,
      `  curl ${system.sink.url}/sandbox/received     (what has arrived where Lumigo would be)`,
    ]);
    return [];
  } finally {
    await system.node.stop();
  }
}
