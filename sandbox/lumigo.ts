import { lumigo } from '../runtime/contract.ts';
import type { Manifest } from '../runtime/kubernetes/resources/objects.ts';

/** A Lumigo as the README has it. */
export const lumigoOf = (namespace: string, spec: object = {}, name = 'lumigo'): Manifest => ({
  apiVersion: lumigo.apiVersion,
  kind: lumigo.kind,
  metadata: { namespace, name },
  spec: { lumigoToken: { secretRef: { name: 'lumigo-credentials', key: 'token' } }, ...spec },
});
