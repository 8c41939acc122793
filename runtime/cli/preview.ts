import { assumedPolicy, preview } from '../diagnostics/preview.ts';
import { renderPreview } from '../diagnostics/render-verdicts.ts';
import { decisionContext, withCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';
import { formatted, type OutputFlags } from './output.ts';

type Flags = OutputFlags & { readonly assumeLumigo?: boolean };

export const run = withCluster(async (cluster, invocation: Invocation<Flags>) => {
  const { namespace, assumeLumigo, output } = invocation.flags;
  cluster.step('reading the workloads, and asking the API server about each change');
  const context = await decisionContext(cluster, invocation);
  const assume = assumeLumigo === true ? assumedPolicy : undefined;
  const previews = await preview({ ...context, namespace, assume });
  if (previews.length === 0)
    invocation.note('No namespace has a Lumigo resource. See opt-ins: lumigo preview -n NAMESPACE [--assume-lumigo]');
  invocation.write(await formatted(output, previews, renderPreview));
});
