import { labels as contract } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../version.ts';

const part = 'lumigo-operator';

/** What names an installation: its objects begin with `name`, and lie in `namespace`. */
export type Installation = Pick<Settings, 'name' | 'namespace' | 'instance'>;

/** What tells an installation's objects from those of another. */
type Named = Pick<Settings, 'name' | 'instance'>;

/** As Helm names a release: its objects begin with it and with the chart's name. */
export const instanceOf = ({ name, instance }: Named): string =>
  instance === '' ? name.replace(/(?<=.)-lumigo-operator$/, '') : instance;

/**
 * By what the operator's Deployment knows its pods. It can never change, so nothing that varies over the life of an installation
 * belongs here; and it is the original operator's, whose Deployment of the same name it becomes (docs/contributing/adr/0019).
 */
export const ownedBy = (installation: Named): Record<string, string> => ({
  'app.kubernetes.io/name': part,
  'app.kubernetes.io/instance': instanceOf(installation),
  'control-plane': 'controller-manager',
});

/** What finds the operator's pods, and none of the original's. */
export function selectorLabels(installation: Named): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': instanceOf(installation),
    'app.kubernetes.io/component': 'controller-manager',
  };
}

/** What every object of the installation carries. Who manages it is left for the tool that applies it to say. */
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
