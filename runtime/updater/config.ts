import { environmentTable, field, integer, name, nonEmpty, oneOf, url } from '../environment.ts';

/** What the updater is told by whoever installs it; a variable each, as the manager's configuration (config.ts). */
export interface UpdaterConfig {
  /** The operator's version; stands in the updater's events. */
  readonly version: string;
  readonly operatorName: string;
  readonly operatorNamespace: string;
  readonly podName: string;
  /** The chart repository. */
  readonly repository: string;
  /** A range of semantic versions; empty: the installed major version. */
  readonly versions: string;
  /** How long the upgraded operator may take until it is ready, and the same again for a rollback. */
  readonly timeoutSeconds: number;
  readonly logLevel: 'error' | 'warn' | 'info' | 'debug';
}

export const { variableOf, toEnvironment, fromEnvironment } = environmentTable<UpdaterConfig>({
  version: field('LUMIGO_OPERATOR_VERSION', nonEmpty),
  operatorName: field('LUMIGO_OPERATOR_NAME', name),
  operatorNamespace: field('LUMIGO_OPERATOR_NAMESPACE', name),
  podName: field('LUMIGO_POD_NAME', name),
  repository: field('LUMIGO_CHART_REPOSITORY', url),
  versions: field('LUMIGO_CHART_VERSIONS', String, ''),
  timeoutSeconds: field('LUMIGO_UPDATE_TIMEOUT_SECONDS', integer(1, 86_400), 600),
  logLevel: field('LUMIGO_LOG_LEVEL', oneOf('error', 'warn', 'info', 'debug'), 'info'),
});
