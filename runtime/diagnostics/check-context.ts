import { lumigo as contract } from '../contract.ts';
import { findManager } from '../installation/installation.ts';
import { listAll, type Client } from '../kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { LumigoResource } from '../api/lumigo.ts';

/** An object that several checks need is read once. */
export interface CheckContext {
  readonly client: Client;
  readonly transport: Transport;
  /** Undefined: all namespaces. */
  readonly namespace: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Undefined: no operator is installed. */
  readonly installed: () => Promise<Awaited<ReturnType<typeof findManager>>>;
  readonly lumigoes: () => Promise<readonly LumigoResource[]>;
}

const once = <T>(read: () => Promise<T>): (() => Promise<T>) => {
  let reading: Promise<T> | undefined;
  return () => (reading ??= read());
};

interface CheckOptions extends Pick<CheckContext, 'client' | 'transport' | 'namespace'> {
  readonly environment: NodeJS.ProcessEnv;
}

export function checkContext({ client, transport, namespace, environment }: CheckOptions): CheckContext {
  const lumigoes = once(async () => {
    const found = (await listAll(client, { ...contract, namespace }).catch(undefinedIfNotFound)) ?? [];
    return found as unknown as readonly LumigoResource[];
  });
  const installed = once(() => findManager(client, environment));
  return { client, transport, namespace, now: Date.now(), lumigoes, installed };
}
