import type { PatchOperation } from '../../api/objects.ts';
import { metadataType, type ChangedObject, type KubernetesObject, type Manifest } from '../resources/objects.ts';
import { isNotFound, undefinedIfNotFound, isConflict } from './errors.ts';
import { type ListOptions, listPages, type Page, type ReadOptions } from './pages.ts';
import { type ResourceRef, resourcePath } from './paths.ts';
import type { ApiRequest, Transport } from './transport.ts';

export type { KubernetesObject } from '../resources/objects.ts';

interface Written {
  readonly object: KubernetesObject;
  readonly warnings: readonly string[];
}

interface WriteOptions extends ReadOptions {
  readonly dryRun?: boolean | undefined;
  readonly fieldManager?: string | undefined;
  /** The reaction to fields that the server does not know. Default: `Warn`. */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined;
}

/** `apply` is server-side apply and needs a fieldManager. `force` takes fields from other managers. */
export type Patch =
  | { readonly kind: 'json'; readonly operations: readonly PatchOperation[] }
  | { readonly kind: 'merge'; readonly body: unknown }
  | { readonly kind: 'apply'; readonly body: unknown; readonly force?: boolean | undefined };

interface DeleteOptions {
  /** If the object has another uid, the request fails with a Conflict. */
  readonly preconditions?: { readonly uid?: string | undefined };
  readonly propagationPolicy?: 'Background' | 'Foreground';
}

/** Throws as Transport.request does. Each ref needs a name, except those of `pages` and `create`. */
export interface Client {
  get(ref: ResourceRef, options?: ReadOptions): Promise<KubernetesObject>;
  find(ref: ResourceRef, options?: ReadOptions): Promise<KubernetesObject | undefined>;
  pages(ref: ResourceRef, options?: ListOptions): AsyncGenerator<Page, void, undefined>;
  create(ref: ResourceRef, object: Manifest, options?: WriteOptions): Promise<Written>;
  /** PUT of a whole object that was just read. Throws a Conflict if it changed since. */
  update(ref: ResourceRef, object: ChangedObject, options?: WriteOptions): Promise<Written>;
  patch(ref: ResourceRef, patch: Patch, options?: WriteOptions): Promise<Written>;
  delete(ref: ResourceRef, options?: DeleteOptions): Promise<void>;
}

/**
 * Returns a JSON patch that fails with a Conflict (409) if the object changed since it was read. It replaces the
 * resourceVersion, because a failed `test` gets 422, like a patch that does not fit (client.cluster.test.ts).
 */
export const guarded = (resourceVersion: string, operations: readonly PatchOperation[]): Patch => ({
  kind: 'json',
  operations: [{ op: 'replace', path: guardPath, value: resourceVersion }, ...operations],
});

const guardPath = '/metadata/resourceVersion';

export function createClient(transport: Transport): Client {
  const get: Client['get'] = async (ref, options = {}) => {
    const { body } = await transport.request({ method: 'GET', path: objectPath(ref), ...toCall(options) });
    return body as KubernetesObject;
  };
  return {
    get,
    find: (ref, options) => get(ref, options).catch(undefinedIfNotFound),
    async *pages(ref, options = {}) {
      try {
        yield* listPages(transport, ref, options);
      } catch (error) {
        if (ref.addOn === undefined || !isNotFound(error)) throw error;
      }
    },
    create: (ref, object, options = {}) =>
      write(transport, { method: 'POST', path: resourcePath(ref), body: object }, options),
    update: (ref, object, options = {}) =>
      write(transport, { method: 'PUT', path: objectPath(ref), body: object }, options),
    patch: (ref, patch, options = {}) =>
      write(transport, { method: 'PATCH', path: objectPath(ref), ...getPatch(patch) }, options),
    async delete(ref, options = {}) {
      await transport.request({
        method: 'DELETE',
        path: objectPath(ref),
        body: { apiVersion: 'v1', kind: 'DeleteOptions', ...options },
        repeatable: options.preconditions?.uid !== undefined,
      });
    },
  };
}

/** After that many conflicts in a row, the caller's backoff helps more. */
const ATTEMPTS = 5;

/** Repeats a guarded write on a Conflict, and throws the fifth. Undefined if the object no longer exists. */
export async function readAndChange<T, R>(
  seen: T | undefined,
  read: () => Promise<T>,
  change: (object: T) => Promise<R>,
): Promise<R | undefined> {
  let object = seen;
  for (let attempt = 1; ; attempt += 1)
    try {
      return await change(object ?? (await read()));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      object = undefined;
    }
}

export async function listAll(client: Client, ref: ResourceRef, options?: ListOptions): Promise<KubernetesObject[]> {
  const found: KubernetesObject[] = [];
  for await (const { items } of client.pages(ref, options)) found.push(...items);
  return found;
}

/** Without the name it would be the collection's path, and DELETE would delete all of it. */
function objectPath(ref: ResourceRef): string {
  if (ref.name === undefined) throw new TypeError(`A request for an object of ${ref.plural} needs a name.`);
  return resourcePath(ref);
}

const toCall = ({ metadataOnly, ...call }: ReadOptions): Partial<ApiRequest> => ({
  ...call,
  accept: metadataOnly === true ? metadataType : undefined,
});

async function write(transport: Transport, request: ApiRequest, options: WriteOptions): Promise<Written> {
  const { dryRun, fieldManager, fieldValidation, ...call } = options;
  const { body, warnings } = await transport.request({
    ...request,
    ...toCall(call),
    query: { ...request.query, dryRun: dryRun === true ? 'All' : undefined, fieldManager, fieldValidation },
    repeatable: dryRun === true || request.repeatable,
  });
  return { object: body as KubernetesObject, warnings };
}

/** A guarded patch and an apply can be sent twice: the second is refused, or changes nothing. */
function getPatch(patch: Patch): Partial<ApiRequest> {
  switch (patch.kind) {
    case 'json': {
      const repeatable = patch.operations.some(({ op, path }) => op === 'replace' && path === guardPath);
      return { body: patch.operations, contentType: 'application/json-patch+json', repeatable };
    }
    case 'merge':
      return { body: patch.body, contentType: 'application/merge-patch+json' };
    case 'apply': {
      const query = { force: patch.force === true };
      return { body: patch.body, contentType: 'application/apply-patch+yaml', query, repeatable: true };
    }
  }
}
