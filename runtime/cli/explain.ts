import { explain, renderExplanation } from '../diagnostics/explain.ts';
import { decisionContext, withCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';
import { formatted, type OutputFlags } from './output.ts';

export const run = withCluster(async (cluster, invocation: Invocation<OutputFlags>) => {
  const { argument: target, flags } = invocation;
  const namespace = flags.namespace ?? cluster.connection.namespace ?? 'default';
  cluster.step(`reading ${target}`);
  const context = await decisionContext(cluster, invocation);
  const explanation = await explain({ ...context, target, namespace });
  invocation.write(await formatted(flags.output, explanation, renderExplanation));
});
