import { findConfig } from '../installation/installation.ts';
import { withPlatform } from '../installation/platform.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { connect } from '../kubernetes/http/connect.ts';
import type { Connection } from '../kubernetes/http/credentials.ts';
import { createTransport, type Transport } from '../kubernetes/http/transport.ts';
import type { Invocation } from './invocation.ts';
import { progressOn } from './progress.ts';

export interface Cluster {
  readonly connection: Connection;
  readonly transport: Transport;
  readonly client: Client;
  readonly step: (text: string) => void;
}

/** Returns a command. Its output never meets the progress on a line of the terminal. */
export const withCluster =
  <F>(action: (cluster: Cluster, invocation: Invocation<F>) => Promise<void>) =>
  async (invocation: Invocation<F>): Promise<void> => {
    const connection = await connect(invocation.flags, invocation.environment);
    const transport = createTransport(connection, { userAgent: 'lumigo-operator' });
    const { step, end, ...output } = progressOn(invocation);
    try {
      await action({ connection, transport, client: createClient(transport), step }, { ...invocation, ...output });
    } finally {
      end();
      transport.close();
    }
  };

/** A note says if the settings are assumed. */
export async function decisionContext({ transport, client }: Cluster, { environment, note }: Invocation) {
  const found = await findConfig(client, environment);
  if (found.note !== undefined) note(found.note);
  const config = await withPlatform(found.config, transport);
  return { client, transport, config, note, isAssumed: found.isAssumed };
}
