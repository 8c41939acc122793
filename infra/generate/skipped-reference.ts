import { sentence, type Code } from '../../runtime/injection/decision.ts';
import { remedies } from '../../runtime/injection/remedies.ts';
import { blockedTexts } from '../../runtime/rollout/workload-state.ts';
import { markdownTable } from '../settings/markdown-table.ts';
import { referencePage } from './page.ts';

const shown = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'my-namespace' } };

const remedyRows = () =>
  (Object.entries(remedies) as [Code, string][]).map(([code, remedy]) => [sentence(code, shown, '…'), remedy]);

export const skippedReference = (): string =>
  referencePage(
    'Workloads without the injection',
    'runtime/injection/remedies.ts',
    '`lumigo explain deployment/cart -n my-namespace` prints the reason and the remedy for one workload. With `debug.enabled`, the webhook logs the same sentence.',
    '## Decisions',
    markdownTable(['Reason', 'What to do'], remedyRows()),
    'In a message, `…` is the owner, the reason or the evidence. [Skipped workloads](../use/workloads.md#skipped-workloads) has the causes for which an injection cannot be added.',
    '## Waiting in the rollout',
    'A workload that can be instrumented waits while one of these sentences is true. The operator continues by itself.',
    markdownTable(
      ['Reason', 'The workload'],
      Object.entries(blockedTexts).map(([reason, text]) => [`\`${reason}\``, `${text}.`]),
    ),
  );
