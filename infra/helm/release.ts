import type { Expression } from './markers.ts';

/** Stands where Helm's own name for a release goes, and its namespace. */
export const releaseMarker = { name: 'xreleasex', namespace: 'xreleasenamespacex' } as const;

const text = (code: string): Expression => ({ path: 'name', code, type: 'text' });

export const releaseExpressions: ReadonlyMap<string, Expression> = new Map([
  [releaseMarker.name, text('$.Release.Name')],
  [releaseMarker.namespace, text('$.Release.Namespace')],
]);
