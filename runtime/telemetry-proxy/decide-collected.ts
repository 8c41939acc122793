import { holds } from '../injection/policy.ts';
import type { LumigoResource } from '../injection/types.ts';

/**
 * What the Lumigo that acts for a namespace means for its telemetry: whether its token is let in, and whether its events and object
 * versions are sent. A Lumigo that is not active lets nobody in; one that is being deleted collects no more.
 */
export function telemetryOf(acting: LumigoResource | undefined): { letIn: boolean; collect: boolean } {
  if (acting === undefined) return { letIn: false, collect: false };
  if (acting.metadata.deletionTimestamp !== undefined) return { letIn: true, collect: false };
  const active = holds(acting.status, 'Active');
  return { letIn: active, collect: active && wantsEvents(acting) };
}

/** Fields that are missing are on. */
const wantsEvents = ({ spec }: LumigoResource): boolean =>
  spec?.infrastructure?.enabled !== false && spec?.infrastructure?.kubeEvents?.enabled !== false;
