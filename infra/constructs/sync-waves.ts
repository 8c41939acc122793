const wave = (number: number) => ({ 'argocd.argoproj.io/sync-wave': String(number) });

/**
 * In which order Argo CD applies, each wave when the one before is healthy, and deletes, backwards; what has none is in wave 0.
 * Others do not mind: Flux finds the order by itself, and Helm and kubectl apply in the order in which the objects stand.
 */
export const syncWaves = {
  /** What others need: the namespace, and the definition of Lumigo resources. */
  foundations: wave(-1),
} as const;
