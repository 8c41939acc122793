import { labels as contract } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../settings/version.ts';

export type Installation = Pick<Settings, 'name' | 'namespace' | 'instance'>;

type Labels = Record<string, string>;

export const toInstance = ({ name, instance }: Installation): string =>
  instance === '' ? name.replace(/(?<=.)-lumigo-operator$/, '') : instance;

const installationLabels = (installation: Installation): Labels => ({
  'app.kubernetes.io/name': 'lumigo-operator',
  'app.kubernetes.io/instance': toInstance(installation),
});

/** Returns the selector of the Deployment. It is immutable, and equals the original operator's, whose Deployment is updated in place. */
export const ownedBy = (installation: Installation): Labels => ({
  ...installationLabels(installation),
  'control-plane': 'controller-manager',
});

/** Returns the labels that select the pods of a component, without those of the original operator. Default: the operator's component. */
export const selectorLabels = (installation: Installation, component = 'controller-manager'): Labels => ({
  ...installationLabels(installation),
  'app.kubernetes.io/component': component,
});

/** Returns the labels of every object. The tool that applies them adds `app.kubernetes.io/managed-by`. */
export const labels = (installation: Installation, component: string): Labels => ({
  ...selectorLabels(installation, component),
  'app.kubernetes.io/part-of': 'lumigo',
  'app.kubernetes.io/version': operatorVersion(),
});

/** Returns the labels by which a ServiceMonitor finds Services. Argo CD replaces `app.kubernetes.io/instance` of each object. */
export const scrapedLabels = ({ name }: Installation): Labels => ({
  'app.kubernetes.io/component': 'metrics',
  [contract.installation]: name,
});

/** Returns the labels of a Service that has metrics. */
export const metricsLabels = (installation: Installation): Labels => ({
  ...labels(installation, 'metrics'),
  ...scrapedLabels(installation),
});

/** This label prevents the injection, by this operator or the original. */
export const optOut = { [contract.autoTrace]: 'false' } as const;

/** Argo CD applies lower waves first and deletes them last. The default is 0. */
export const firstWave = { 'argocd.argoproj.io/sync-wave': '-1' } as const;
