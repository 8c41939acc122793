import { lumigo as contract } from '../contract.ts';
import { findManager } from '../installation/installation.ts';
import { listAll, type Client } from '../kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { LumigoResource } from '../api/lumigo.ts';

interface CheckOptions {
  readonly client: Client;
  readonly transport: Transport;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
}

export type CheckContext = ReturnType<typeof checkContext>;

const readOnce = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let reading: Promise<T> | undefined;
  return () => (reading ??= read());
};

/** An object that several checks need is read once. */
export function checkContext(options: CheckOptions) {
  const { client, namespace, environment } = options;
  return {
    ...options,
    /** Undefined: no operator is installed. */
    installed: readOnce(() => findManager(client, environment)),
    lumigoes: readOnce(async () => {
      const found = await listAll(client, { ...contract, namespace }).catch(undefinedIfNotFound);
      return (found ?? []) as unknown as readonly LumigoResource[];
    }),
  };
}
