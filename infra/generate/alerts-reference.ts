import { markdownTable } from '../settings/markdown-table.ts';
import { alertPage, alerts, severityOf, type Alert } from '../constructs/alerts.ts';

const delay = ({ for: held }: Alert): string => (held === undefined ? 'at once' : `after ${held}`);

export const alertTable = (): string =>
  markdownTable(
    ['Alert', 'Fires', 'Meaning'],
    alerts.map((alert) => [
      `[${alert.name}](${alertPage(alert.name).replace('operate/', '')})`,
      delay(alert),
      alert.summary,
    ]),
  );

export const alertRule = (alert: Alert): string =>
  [
    alert.summary,
    `Severity \`${severityOf(alert)}\`, component \`${alert.component}\`. It fires ${delay(alert)}:`,
    `\`\`\`promql\n${alert.expr}\n\`\`\``,
  ].join('\n\n');
