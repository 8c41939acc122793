/** A collection of the API, or with `name` one object. */
export interface ResourceRef {
  /** The core group is an empty text. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Left out: cluster-scoped, or all namespaces. */
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  /** The product that installs its definition, which may be absent: then there are no objects. */
  readonly addOn?: string | undefined;
}

/** Returns e.g. `/apis/apps/v1/namespaces/shop/deployments`. Parts are escaped, so that no name points elsewhere. */
export function resourcePath(ref: ResourceRef): string {
  const root = ref.group === '' ? ['api', ref.version] : ['apis', ref.group, ref.version];
  const scope = ref.namespace === undefined ? [] : ['namespaces', ref.namespace];
  const target = [ref.plural, ref.name, ref.subresource].filter((part) => part !== undefined);
  return [...root, ...scope, ...target].map((part) => `/${segment(part)}`).join('');
}

/** An empty segment, `.` or `..` would address another resource: `get` without a name is a list. */
function segment(part: string): string {
  if (part === '' || part === '.' || part === '..')
    throw new TypeError(`'${part}' is not a valid name in an API path; use the name of the resource.`);
  return encodeURIComponent(part);
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export function queryString(query: Query | undefined): string {
  const pairs = Object.entries(query ?? {})
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

const writeVerbs: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Labels of a metric: the API's verb and the plural (`deployments/status`), never a name. */
export interface RequestKind {
  readonly verb: string;
  readonly resource: string;
}

export function requestKind(method: string, path: string, watch: boolean): RequestKind {
  const [, plural, name, subresource] = resourceParts.exec(path) ?? [];
  const read = watch ? 'watch' : plural !== undefined && name === undefined ? 'list' : 'get';
  const resource = subresource === undefined ? (plural ?? path) : `${plural ?? ''}/${subresource}`;
  return { verb: writeVerbs[method] ?? read, resource };
}

/** `/api/v1/namespaces/shop` is a namespace, `/api/v1/namespaces/shop/pods` are pods. */
const resourceParts =
  /^\/(?:api\/[^/]+|apis\/[^/]+\/[^/]+)\/(?:namespaces\/[^/]+\/(?!status$|finalize$))?([^/]+)(?:\/([^/]+)(?:\/(.+))?)?$/;
