import type { KubernetesObject } from '../resources/objects.ts';
import { nextPageSize } from './byte-budget.ts';
import { AnswerTooLargeError, isGone } from './errors.ts';
import { type ResourceRef, resourcePath } from './paths.ts';
import type { ApiRequest, Transport } from './transport.ts';

export interface ReadOptions extends Pick<ApiRequest, 'signal' | 'pool' | 'timeoutMs' | 'maxWaitMs' | 'maxBytes'> {
  readonly metadataOnly?: boolean | undefined;
}

export interface ListOptions extends ReadOptions {
  /** Maximum objects on a page, default 500. A page has fewer if they are large. */
  readonly limit?: number | undefined;
  /** Default: all. */
  readonly maxPages?: number | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** After 5 minutes the list expires: `resume` (default) continues with the present state, `fail` throws the 410. */
  readonly onExpired?: 'resume' | 'fail' | undefined;
}

export interface Page {
  readonly items: readonly KubernetesObject[];
  /** The same on every page, unless the list was resumed. */
  readonly resourceVersion: string;
  readonly bytes: number;
}

interface ListBody {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items?: readonly KubernetesObject[] | null;
}

const metadataListType = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Passes over an object that is too large. Throws as Transport.request does, and AnswerTooLargeError for a page above `maxBytes`. */
export async function* listPages(
  transport: Transport,
  ref: ResourceRef,
  options: ListOptions,
): AsyncGenerator<Page, void, undefined> {
  const { limit = 500, maxPages = Infinity } = options;
  let query: PageQuery = { limit, continue: undefined };
  let pages = 0;
  do {
    const { body, bytes, size } = await readPage(transport, ref, options, query);
    // Some servers send null for an empty list. The answer that resumes an expired list has no items.
    if (body.items !== undefined)
      yield { items: (body.items ?? []).map(named(body)), resourceVersion: body.metadata.resourceVersion, bytes };
    query = { limit: nextPageSize(size, bytes, limit), continue: body.metadata.continue ?? '' };
    pages += 1;
  } while (query.continue !== '' && pages < maxPages);
}

type PageQuery = { readonly limit: number; readonly continue: string | undefined };

/** Reads fewer objects if they are too large for one page. `size` is the maximum that was asked for. */
async function readPage(
  transport: Transport,
  ref: ResourceRef,
  options: ListOptions,
  page: PageQuery,
): Promise<{ readonly body: ListBody; readonly bytes: number; readonly size: number }> {
  const { labelSelector, fieldSelector, signal, pool, timeoutMs, maxWaitMs, maxBytes } = options;
  const size = page.limit;
  const path = resourcePath(ref);
  const accept = options.metadataOnly === true ? metadataListType : undefined;
  const query = { ...page, labelSelector, fieldSelector };
  try {
    const call = { signal, pool, timeoutMs, maxWaitMs, maxBytes };
    const { body, bytes } = await transport.request({ method: 'GET', path, query, accept, ...call });
    return { body: body as ListBody, bytes, size };
  } catch (error) {
    if (!(error instanceof AnswerTooLargeError) || maxBytes !== undefined)
      return { body: resumed(error, options), bytes: 0, size };
    if (size > 1) return readPage(transport, ref, options, { ...page, limit: Math.floor(size / 2) });
    transport.skipped(path, error.maxBytes);
    return { body: withoutItems(error), bytes: error.maxBytes, size };
  }
}

/**
 * A tenant must not end the lists of others by the size of an object. The API server writes a list's metadata before its
 * items. That of custom resources is last, but they are stored as JSON, so they are smaller than the limit.
 */
function withoutItems(error: AnswerTooLargeError): ListBody {
  const end = error.head.indexOf('"items":[');
  if (end < 0 || !error.head.slice(0, end).includes('"metadata":')) throw error;
  return JSON.parse(`${error.head.slice(0, end)}"items":[]}`) as ListBody;
}

/** The items of a list have no type, unlike those of a stream. */
const named =
  ({ apiVersion = '', kind = '' }: ListBody) =>
  (item: KubernetesObject): KubernetesObject =>
    item.kind === undefined ? { ...item, apiVersion, kind: kind.replace(/List$/, '') } : item;

/** The server's 410 may carry a token that continues the list. */
function resumed(error: unknown, { onExpired }: ListOptions): ListBody {
  if (onExpired === 'fail' || !isGone(error) || error.continueToken === undefined) throw error;
  return { metadata: { resourceVersion: '', continue: error.continueToken } };
}
