import type { WorkloadKind } from '../../contract.ts';
import { changesOf, type Watching } from './changes-of.ts';
import { listWatch, type ListWatch, type ListWatchOptions } from './list-watch.ts';

/** A list-watch of a kind, whether it is one of the API server's own or its definition may be absent, come and go: that is heard of. */
export function watchKind(
  kind: Pick<WorkloadKind, 'group' | 'version' | 'plural' | 'addOn'>,
  options: Omit<ListWatchOptions, 'resource' | 'definition'> & Watching,
): ListWatch {
  const definition = kind.addOn === undefined ? undefined : changesOf([definitionOf(kind)], options);
  return listWatch({ ...options, resource: kind, definition });
}

const definitionOf = ({ group, plural }: Pick<WorkloadKind, 'group' | 'plural'>) => ({
  ...{ group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', name: `${plural}.${group}` },
});
