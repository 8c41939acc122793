import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { refuse } from '../testing/refuse-changes.ts';
import { eventOf } from '../testing/telemetry.ts';

/** Has the API server refuse every event of a namespace, as a policy or a quota may. */
export function refuseEvents(client: Client, namespace: string): Promise<() => Promise<void>> {
  const ref = { group: '', version: 'v1', plural: 'events', namespace };
  return refuse(client, `refuse-events-${namespace}`, {
    namespace,
    rule: { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['events'] },
    message: 'no events here',
    isRefused: () =>
      client.create(ref, eventOf(namespace, 'probe'), { dryRun: true }).then(
        () => false,
        () => true,
      ),
  });
}
