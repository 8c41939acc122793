import { labels as contract } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../settings/version.ts';

const part = 'lumigo-operator';

export type Installation = Pick<Settings, 'name' | 'namespace' | 'instance'>;

type Named = Pick<Settings, 'name' | 'instance'>;

export const toInstance = ({ name, instance }: Named): string =>
  instance === '' ? name.replace(/(?<=.)-lumigo-operator$/, '') : instance;

/** Returns the selector of the Deployment. It is immutable, and equals the original operator's, whose Deployment is updated in place. */
export const ownedBy = (installation: Named): Record<string, string> => ({
  'app.kubernetes.io/name': part,
  'app.kubernetes.io/instance': toInstance(installation),
  'control-plane': 'controller-manager',
});

/** Returns the labels that select the operator's pods, but not those of the original operator. */
export function selectorLabels(installation: Named): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': toInstance(installation),
    'app.kubernetes.io/component': 'controller-manager',
  };
}

/** Returns the labels of every object. The tool that applies them adds `app.kubernetes.io/managed-by`. */
export function labels(installation: Named, component: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': part,
    'app.kubernetes.io/instance': toInstance(installation),
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/part-of': 'lumigo',
    'app.kubernetes.io/version': operatorVersion(),
  };
}

/** Returns the labels by which a ServiceMonitor finds Services. Argo CD replaces `app.kubernetes.io/instance` of each object. */
export const scrapedLabels = ({ name }: Pick<Named, 'name'>): Record<string, string> => ({
  'app.kubernetes.io/component': 'metrics',
  'operator.lumigo.io/installation': name,
});

/** Returns the labels of a Service that has metrics. */
export const metricsLabels = (installation: Named): Record<string, string> => ({
  ...labels(installation, 'metrics'),
  ...scrapedLabels(installation),
});

/** This label prevents the injection, by this operator or the original. */
export const optOut = { [contract.autoTrace]: 'false' } as const;

/** Argo CD applies lower waves first and deletes them last. The default is 0. */
export const firstWave = { 'argocd.argoproj.io/sync-wave': '-1' } as const;
