import { injector, lumigo } from '../runtime/contract.ts';
import type { PodSpec } from '../runtime/api/objects.ts';
import type { Manifest } from '../runtime/kubernetes/resources/objects.ts';

/** Returns a `Lumigo` as the README has it. */
export const lumigoOf = (namespace: string, spec: object = {}, name = 'lumigo'): Manifest => ({
  apiVersion: lumigo.apiVersion,
  kind: lumigo.kind,
  metadata: { namespace, name },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } }, ...spec },
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
