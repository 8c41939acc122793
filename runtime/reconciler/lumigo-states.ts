import type { LumigoResource } from '../api/lumigo.ts';
import type { ObservedLumigo } from './observed.ts';

const fresh = { isBusy: false, statusAt: -Infinity, listedAt: 0 };

/** The states of the `Lumigo` resources that the operator writes to. */
export class LumigoStates {
  /** By namespace and uid. */
  private readonly known = new Map<string, Map<string, ObservedLumigo>>();

  /** Forgets all others of the namespace, because a tenant can create and delete them without end. */
  observe(namespace: string, resources: readonly LumigoResource[]): ObservedLumigo[] {
    const observed = resources.map((resource) => ({ ...fresh, ...this.find(resource), resource }));
    if (observed.length === 0) this.known.delete(namespace);
    else this.known.set(namespace, new Map(observed.map((each) => [each.resource.metadata.uid, each])));
    return observed;
  }

  find = ({ metadata: { namespace, uid } }: LumigoResource) => this.known.get(namespace)?.get(uid);

  /** The answer to a request may arrive after the resource was deleted. */
  note(lumigo: LumigoResource, change: Partial<ObservedLumigo>): void {
    const { namespace, uid } = lumigo.metadata;
    const known = this.find(lumigo);
    if (known !== undefined) this.known.get(namespace)?.set(uid, { ...known, ...change });
  }
}
