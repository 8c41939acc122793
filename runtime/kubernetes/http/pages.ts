import type { KubernetesObject } from '../resources/objects.ts';
import { isGone } from './errors.ts';
import { type ResourceRef, resourcePath } from './paths.ts';
import type { ApiRequest, Transport } from './transport.ts';

export interface ReadOptions extends Pick<ApiRequest, 'signal' | 'pool' | 'timeoutMs'> {
  /** Only the metadata comes over the wire. */
  readonly metadataOnly?: boolean | undefined;
}

export interface ListOptions extends ReadOptions {
  /** Objects on a page, default 500. */
  readonly limit?: number | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * When the list grew older than the server remembers (5 minutes): `resume` (default) goes on from the next name with
   * the present state, so that every object which existed throughout is seen once; `fail` throws the 410, for whoever
   * needs the state of one moment.
   */
  readonly onExpired?: 'resume' | 'fail' | undefined;
}

export interface Page {
  readonly items: readonly KubernetesObject[];
  /** The moment that the list shows, the same on every page unless it was resumed. */
  readonly resourceVersion: string;
}

interface ListBody {
  readonly apiVersion?: string;
  /** That of the items, with `List` after it. */
  readonly kind?: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly KubernetesObject[] | null;
}

const metadataListType = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** A list in pages. Throws what Transport.request throws. */
export async function* listPages(
  transport: Transport,
  ref: ResourceRef,
  options: ListOptions,
): AsyncGenerator<Page, void, undefined> {
  const { signal, pool, timeoutMs, labelSelector, fieldSelector, limit = 500 } = options;
  const path = resourcePath(ref);
  const accept = options.metadataOnly === true ? metadataListType : undefined;
  let next: string | undefined;
  do {
    const query = { limit, labelSelector, fieldSelector, continue: next };
    const page = await transport
      .request({ method: 'GET', path, query, accept, signal, pool, timeoutMs })
      .then(({ body }) => body as ListBody)
      .catch((error: unknown) => resumed(error, options));
    // Some servers say null where there are none; what goes on with an expired list has no items of its own.
    if (page.items !== undefined)
      yield { items: (page.items ?? []).map(named(page)), resourceVersion: page.metadata.resourceVersion };
    next = page.metadata.continue;
  } while (next !== undefined && next !== '');
}

/** The items of a list say nothing of what they are; those of a stream do, and whoever reads both need not know which they come from. */
const named =
  ({ apiVersion = '', kind = '' }: ListBody) =>
  (item: KubernetesObject): KubernetesObject =>
    item.kind === undefined ? { ...item, apiVersion, kind: kind.replace(/List$/, '') } : item;

/** The server's own way out of an expired list: a token that goes on where the list broke off. */
function resumed(error: unknown, { onExpired }: ListOptions): ListBody {
  if (onExpired === 'fail' || !isGone(error) || error.continueToken === undefined) throw error;
  return { metadata: { resourceVersion: '', continue: error.continueToken } };
}
