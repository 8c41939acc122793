import { conditionTypes } from '../../runtime/api/conditions.ts';
import { events } from '../../runtime/api/events.ts';
import { markdownTable } from '../settings/markdown-table.ts';
import { code, referencePage } from './page.ts';

type Reasons = Readonly<
  Record<string, { readonly status: string; readonly means: string; readonly action?: string | undefined }>
>;

export const conditionsReference = (): string =>
  referencePage(
    'Conditions',
    'runtime/api/conditions.ts',
    'The conditions are in the status of a `Lumigo` resource. The message of a condition says what happened, with names, and what to do.',
    ...Object.entries(conditionTypes).flatMap(([type, { means, reasons, ...more }]) => [
      `## ${type}`,
      `True means: ${means}${'onRequest' in more ? ' The condition appears when there is something to report.' : ''}`,
      ...(Object.keys(reasons).length === 0 ? [] : [reasonsTable(reasons)]),
    ]),
  );

const reasonsTable = (reasons: Reasons): string =>
  markdownTable(
    ['Reason', 'Status', 'Meaning', 'What to do'],
    Object.entries(reasons).map(([reason, { status, means, action = '' }]) => [code(reason), status, means, action]),
  );

export const eventsReference = (): string =>
  referencePage(
    'Events',
    'runtime/api/events.ts',
    'The events are `core/v1` events on the object that they are about. Each change has one event, also if several replicas report it.',
    '```sh\nkubectl get events -n my-namespace --field-selector reason=LumigoRevertedInstrumentation\n```',
    markdownTable(
      ['Reason', 'Type', 'On', 'Meaning', 'What to do'],
      Object.entries(events).map(([reason, entry]) => [
        code(reason),
        entry.type,
        entry.on,
        entry.means,
        'action' in entry ? entry.action : '',
      ]),
    ),
  );
