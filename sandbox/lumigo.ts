import { injector, lumigo, optInDefaults } from '../runtime/contract.ts';
import type { PodSpec } from '../runtime/api/objects.ts';
import type { Manifest } from '../runtime/kubernetes/resources/objects.ts';

/** Returns the `Lumigo` of a traced namespace, with a spec and a name that the construct might not accept. */
export function getLumigo(namespace: string, spec: object = {}, name = 'lumigo'): Manifest {
  const { apiVersion, kind } = lumigo;
  const lumigoToken = { secretRef: { name: optInDefaults.tokenSecret, key: optInDefaults.tokenKey } };
  return { apiVersion, kind, metadata: { namespace, name }, spec: { lumigoToken, ...spec } };
}

/** Returns the Secret with the token of that `Lumigo`. */
export const getSecret = (namespace: string, token: string, name: string = optInDefaults.tokenSecret): Manifest => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name },
  data: { [optInDefaults.tokenKey]: Buffer.from(token).toString('base64') },
});

export function isInstrumented(pod: object | undefined): boolean {
  const { spec } = (pod ?? {}) as { readonly spec?: Partial<PodSpec> };
  return spec?.initContainers?.some(({ name }) => name === injector.container) === true;
}

interface Status {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

export const hasCondition = (wanted: string, status: Status | undefined): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === wanted && value === 'True') === true;
