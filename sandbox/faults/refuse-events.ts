import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { refuse } from '../testing/refuse-changes.ts';
import { eventOf } from '../testing/telemetry.ts';

/** Has the API server refuse every event of a namespace, as a policy or a quota may. */
export function refuseEvents(client: Client, namespace: string): Promise<() => Promise<void>> {
  return refuse(client, `refuse-events-${namespace}`, {
    namespace,
    rule: { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['events'] },
    message: 'no events here',
    isRefused: () =>
      client.create({ ...kinds.events, namespace }, eventOf(namespace, 'probe'), { dryRun: true }).then(
        () => false,
        () => true,
      ),
  });
}
