import { updaterKinds } from '../config/config.ts';
import { readConfiguration } from '../config/document.ts';
import { createLogger } from '../observability/logging.ts';
import { openHelm } from '../updater/helm.ts';
import { update } from '../updater/update.ts';
import { withCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';

/** The updater's CronJob runs this command. A pinned image must go on after the upgrade that it made, so it accepts any settings. */
export const run = withCluster(async ({ client }, { environment }: Invocation) => {
  const config = readConfiguration(updaterKinds, environment, 'dev');
  const helm = openHelm(config.operatorNamespace, environment);
  try {
    if (!(await update({ config, client, helm, logger: createLogger(config.logLevel) })))
      throw new Error('the operator was not updated. See the log for the reason');
  } finally {
    helm.close();
  }
});
