import type { KubernetesObject } from '../resources/objects.ts';
import { nextPageSize } from './byte-budget.ts';
import { AnswerTooLargeError, isGone } from './errors.ts';
import { type ResourceRef, resourcePath } from './paths.ts';
import type { ApiRequest, Transport } from './transport.ts';

export interface ReadOptions extends Pick<ApiRequest, 'signal' | 'pool' | 'timeoutMs' | 'maxBytes'> {
  /** Only the metadata comes over the wire. */
  readonly metadataOnly?: boolean | undefined;
}

export interface ListOptions extends ReadOptions {
  /** Most objects on a page, default 500. A page has fewer if they are large. */
  readonly limit?: number | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /**
   * The rule for a list that grew older than the server remembers (5 minutes). `resume` (default) goes on from the next name
   * with the present state: every object that existed throughout is seen once. `fail` throws the 410, because the caller needs
   * the state of one moment.
   */
  readonly onExpired?: 'resume' | 'fail' | undefined;
}

export interface Page {
  readonly items: readonly KubernetesObject[];
  /** The moment that the list shows, the same on every page unless it was resumed. */
  readonly resourceVersion: string;
  /** Its length as it came over the wire. */
  readonly bytes: number;
}

interface ListBody {
  readonly apiVersion?: string;
  /** That of the items, with `List` after it. */
  readonly kind?: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly KubernetesObject[] | null;
}

const metadataListType = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/**
 * Lists in pages.
 * @throws the errors of Transport.request
 * @throws AnswerTooLargeError if one object alone is too large, or a page has more than `maxBytes`
 */
export async function* listPages(
  transport: Transport,
  ref: ResourceRef,
  options: ListOptions,
): AsyncGenerator<Page, void, undefined> {
  const { limit = 500 } = options;
  let size = limit;
  let next: string | undefined;
  do {
    const answer = await readPage(transport, ref, options, { limit: size, continue: next });
    if (answer === 'too large') {
      size = Math.floor(size / 2);
      continue;
    }
    const { page, bytes } = answer;
    size = nextPageSize(size, bytes, limit);
    // Some servers say null where there are none; what goes on with an expired list has no items of its own.
    if (page.items !== undefined)
      yield { items: (page.items ?? []).map(named(page)), resourceVersion: page.metadata.resourceVersion, bytes };
    next = page.metadata.continue ?? '';
  } while (next !== '');
}

interface PageQuery {
  readonly limit: number;
  readonly continue: string | undefined;
}

async function readPage(
  transport: Transport,
  ref: ResourceRef,
  options: ListOptions,
  page: PageQuery,
): Promise<{ readonly page: ListBody; readonly bytes: number } | 'too large'> {
  const { signal, pool, timeoutMs, maxBytes, labelSelector, fieldSelector } = options;
  const accept = options.metadataOnly === true ? metadataListType : undefined;
  const query = { ...page, labelSelector, fieldSelector };
  try {
    const path = resourcePath(ref);
    const answer = await transport.request({ method: 'GET', path, query, accept, signal, pool, timeoutMs, maxBytes });
    return { page: answer.body as ListBody, bytes: answer.bytes };
  } catch (error) {
    if (error instanceof AnswerTooLargeError && maxBytes === undefined && page.limit > 1) return 'too large';
    return { page: resumed(error, options), bytes: 0 };
  }
}

/** Gives the items of a list their type, as the items of a stream have it. */
const named =
  ({ apiVersion = '', kind = '' }: ListBody) =>
  (item: KubernetesObject): KubernetesObject =>
    item.kind === undefined ? { ...item, apiVersion, kind: kind.replace(/List$/, '') } : item;

/** The server's own way out of an expired list: a token that goes on where the list broke off. */
function resumed(error: unknown, { onExpired }: ListOptions): ListBody {
  if (onExpired === 'fail' || !isGone(error) || error.continueToken === undefined) throw error;
  return { metadata: { resourceVersion: '', continue: error.continueToken } };
}
