import { labels as contract } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../version.ts';

const part = 'lumigo-operator';

/** As Helm names a release: its objects begin with it and with the chart's name. */
export const instanceOf = ({ name, instance }: Pick<Settings, 'name' | 'instance'>): string =>
  instance === '' ? name.replace(/(?<=.)-lumigo-operator$/, '') : instance;

/**
 * By what the operator's Deployment knows its pods. It can never change, so nothing that varies over the life of an installation
 * belongs here; and it is the original operator's, whose Deployment of the same name it becomes (docs/adr/0019).
 */
export const ownedBy = (settings: Settings): Record<string, string> => ({
  'app.kubernetes.io/name': part,
  'app.kubernetes.io/instance': instanceOf(settings),
  'control-plane': 'controller-manager',
});

/** What finds the operator's pods, and none of the original's. */
export function selectorLabels(settings: Settings): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': instanceOf(settings),
    'app.kubernetes.io/component': 'controller-manager',
  };
}

/** What every object of the installation carries. Who manages it is left for the tool that applies it to say. */
export function labels(settings: Settings, component: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': instanceOf(settings),
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/part-of': 'lumigo',
    'app.kubernetes.io/version': operatorVersion(),
  };
}

/** Keeps an operator, this one or another of its kind, from instrumenting what carries it. */
export const optOut = { [contract.autoTrace]: 'false' } as const;
