import { labels as contract } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../settings/version.ts';

const part = 'lumigo-operator';

/** The names of an installation: its objects begin with `name` and are in `namespace`. */
export type Installation = Pick<Settings, 'name' | 'namespace' | 'instance'>;

/** The settings that distinguish the objects of two installations. */
type Named = Pick<Settings, 'name' | 'instance'>;

/** As Helm names a release: its objects begin with it and with the chart's name. */
export const instanceOf = ({ name, instance }: Named): string =>
  instance === '' ? name.replace(/(?<=.)-lumigo-operator$/, '') : instance;

/**
 * Returns the selector of the operator's Deployment. It can never change, so it contains only constants of an installation. It equals
 * the selector of the original operator, whose Deployment of the same name is updated in place (docs/contributing/adr/0019).
 */
export const ownedBy = (installation: Named): Record<string, string> => ({
  'app.kubernetes.io/name': part,
  'app.kubernetes.io/instance': instanceOf(installation),
  'control-plane': 'controller-manager',
});

/** Returns the labels that select the operator's pods, but not those of the original. */
export function selectorLabels(installation: Named): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': instanceOf(installation),
    'app.kubernetes.io/component': 'controller-manager',
  };
}

/** Returns the labels of every object. The tool that applies them adds `app.kubernetes.io/managed-by`. */
export function labels(installation: Named, component: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': instanceOf(installation),
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/part-of': 'lumigo',
    'app.kubernetes.io/version': operatorVersion(),
  };
}

/** Keeps an operator, this one or another of its kind, from instrumenting what carries it. */
export const optOut = { [contract.autoTrace]: 'false' } as const;

/**
 * In which order Argo CD applies, each wave when the one before is healthy, and deletes, backwards; what has none is in wave 0. In the
 * first is what others need: the namespace, and the definition of Lumigo resources. Others do not mind: Flux finds the order by itself,
 * and Helm and kubectl apply in the order in which the objects stand.
 */
export const firstWave = { 'argocd.argoproj.io/sync-wave': '-1' } as const;
