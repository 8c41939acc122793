import { settingsReference } from '../settings/settings-reference.ts';
import { permissionsReference, portsReference } from './access-reference.ts';
import { commandsReference } from './commands-reference.ts';
import { labelsReference } from './labels-reference.ts';
import { lumigoReference } from './lumigo-reference.ts';
import { metricsReference } from './metrics-reference.ts';
import { skippedReference } from './skipped-reference.ts';
import { conditionsReference, eventsReference } from './status-reference.ts';

/** The pages that are generated as a whole. */
export const references: Readonly<Record<string, () => string>> = {
  'docs/reference/commands.md': commandsReference,
  'docs/reference/conditions.md': conditionsReference,
  'docs/reference/events.md': eventsReference,
  'docs/reference/labels.md': labelsReference,
  'docs/reference/lumigo.md': lumigoReference,
  'docs/reference/metrics.md': metricsReference,
  'docs/reference/permissions.md': permissionsReference,
  'docs/reference/ports.md': portsReference,
  'docs/reference/settings.md': settingsReference,
  'docs/reference/skipped.md': skippedReference,
};
