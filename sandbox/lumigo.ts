import { renderTracedNamespace } from '../infra/constructs/traced-namespace.ts';
import { injector } from '../runtime/contract.ts';
import type { PodSpec } from '../runtime/api/objects.ts';
import type { Manifest } from '../runtime/kubernetes/resources/objects.ts';

/** Returns the `Lumigo` of a traced namespace, with a spec and a name that the construct might not accept. */
export function getLumigo(namespace: string, spec: object = {}, name = 'lumigo'): Manifest {
  const lumigo = renderTracedNamespace({ namespace, createNamespace: false }).at(-1) as Manifest;
  return { ...lumigo, metadata: { namespace, name }, spec: { ...(lumigo['spec'] as object), ...spec } };
}

export function isInstrumented(pod: object | undefined): boolean {
  const { spec } = (pod ?? {}) as { readonly spec?: Partial<PodSpec> };
  return spec?.initContainers?.some(({ name }) => name === injector.container) === true;
}

interface Status {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

export const hasCondition = (wanted: string, status: Status | undefined): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === wanted && value === 'True') === true;
