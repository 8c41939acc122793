import { markdownTable } from '../settings/markdown-table.ts';
import { alertPage, alerts, severityOf, type Alert } from '../constructs/alerts.ts';

const delay = ({ for: held }: Alert): string => (held === undefined ? 'at once' : `after ${held}`);
const end = ({ keepFiringFor: kept }: Alert): string =>
  kept === undefined ? '' : `, and ends ${kept} after its cause (\`keep_firing_for\`)`;

const linkTo = (name: string): string => `[${name}](${alertPage(name).replace('operate/', '')})`;

export const alertTable = (): string =>
  markdownTable(
    ['Alert', 'Fires', 'Meaning'],
    alerts.map((alert) => [linkTo(alert.name), delay(alert), alert.summary]),
  );

export const alertRule = (alert: Alert): string =>
  [
    alert.summary,
    `Severity \`${severityOf(alert)}\`, component \`${alert.component}\`. It fires ${delay(alert)}${end(alert)}:`,
    `\`\`\`promql\n${alert.expr}\n\`\`\``,
  ].join('\n\n');
