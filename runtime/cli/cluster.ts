import { findConfig } from '../installation/installation.ts';
import { withPlatform } from '../installation/platform.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { connect } from '../kubernetes/http/connect.ts';
import type { Connection } from '../kubernetes/http/credentials.ts';
import { createTransport, type RequestInfo, type Transport } from '../kubernetes/http/transport.ts';
import type { Invocation } from './invocation.ts';
import { progressOn } from './progress.ts';

export interface Cluster {
  readonly connection: Connection;
  readonly open: (headers: Connection['headers']) => Transport;
  readonly transport: Transport;
  readonly client: Client;
  readonly step: (text: string) => void;
}

const BEHIND_PROXY =
  'HTTPS_PROXY is set, but this program connects to the API server without a proxy. If it needs one, see docs/reference/commands.md';

/** Returns a command. Its output never meets the progress on a line of the terminal. */
export const withCluster =
  <F>(action: (cluster: Cluster, invocation: Invocation<F>) => Promise<void>) =>
  async (invocation: Invocation<F>): Promise<void> => {
    const connection = await connect(invocation.flags, invocation.environment);
    const { step, end, ...output } = progressOn(invocation);
    const onSkipped = (resource: string): void =>
      output.note(`Passed over ${resource} that are too large to read. Make them smaller.`);
    const { HTTPS_PROXY, https_proxy: proxy = HTTPS_PROXY } = invocation.environment;
    const onRequest = ({ code }: RequestInfo) => code === 0 && Boolean(proxy) && output.note(BEHIND_PROXY);
    const open: Cluster['open'] = (headers) =>
      createTransport({ ...connection, headers }, { userAgent: 'lumigo-operator', onSkipped, onRequest });
    const transport = open(connection.headers);
    try {
      const client = createClient(transport);
      await action({ connection, open, transport, client, step }, { ...invocation, ...output });
    } finally {
      end();
      transport.close();
    }
  };

/** A note says if the settings are assumed. */
export async function decisionContext({ transport, client }: Cluster, { environment, note }: Invocation) {
  const found = await findConfig(client, environment);
  if (found.note !== undefined) note(found.note);
  return { client, transport, config: await withPlatform(found.config, transport), note };
}
