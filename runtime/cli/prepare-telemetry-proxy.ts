import { fromEnvironment } from '../config/config.ts';
import { writeAccount } from '../telemetry-proxy/account.ts';
import { prepare } from '../telemetry-proxy/files.ts';
import { withCluster } from './cluster.ts';
import type { Invocation } from './invocation.ts';

/** The init container runs this. The telemetry proxy starts right after it, so its token comes first. */
export const run = withCluster(async ({ client, connection }, invocation: Invocation) => {
  const config = fromEnvironment(invocation.environment);
  await writeAccount({ config, client, authority: connection.ca });
  prepare(config);
});
