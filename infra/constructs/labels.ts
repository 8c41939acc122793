import { labels as contract } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../version.ts';

const part = 'lumigo-operator';

/**
 * What finds the operator's pods. A Deployment's selector can never change, so nothing that varies over the life of an
 * installation belongs here.
 */
export function selectorLabels(settings: Settings): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': settings.name,
    'app.kubernetes.io/component': 'controller-manager',
  };
}

/** What every object of the installation carries. Who manages it is left for the tool that applies it to say. */
export function labels(settings: Settings, component: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': settings.name,
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/part-of': 'lumigo',
    'app.kubernetes.io/version': operatorVersion(),
  };
}

/** Keeps an operator, this one or another of its kind, from instrumenting what carries it. */
export const optOut = { [contract.autoTrace]: 'false' } as const;
