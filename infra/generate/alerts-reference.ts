import { markdownTable } from '../settings/markdown-table.ts';
import { alerts, severityOf, type Alert } from '../constructs/alerts.ts';

const delay = ({ for: held }: Alert): string => (held === undefined ? 'at once' : `after ${held}`);
const end = ({ keepFiringFor: kept }: Alert): string =>
  kept === undefined ? '' : `, and ends ${kept} after its cause (\`keep_firing_for\`)`;

export const alertTable = (): string =>
  markdownTable(
    ['Alert', 'Fires', 'Meaning'],
    alerts.map((alert) => [`[${alert.name}](alerts/${alert.name}.md)`, delay(alert), alert.summary]),
  );

export const alertRule = (alert: Alert): string =>
  [
    alert.summary,
    `Severity \`${severityOf(alert)}\`, component \`${alert.component}\`. It fires ${delay(alert)}${end(alert)}:`,
    `\`\`\`promql\n${alert.expr}\n\`\`\``,
  ].join('\n\n');
