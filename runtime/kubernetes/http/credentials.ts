import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../wording/errors.ts';

export interface Connection {
  readonly server: URL;
  /** Returns PEM. Default: the system's authorities. */
  readonly ca?: (() => string | Buffer | undefined) | undefined;
  /** Trusts any certificate. Only a kubeconfig can set it. */
  readonly insecure?: boolean | undefined;
  readonly serverName?: string | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** These are sent in addition to Authorization, e.g. `Impersonate-User`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly namespace?: string | undefined;
  /** Returns the header; undefined with a client certificate. */
  authorization(): Promise<string | undefined>;
}

interface InClusterSource {
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Returns the credentials of the pod's ServiceAccount. Throws a ConfigError outside a pod. */
export async function inCluster({ directory, env }: InClusterSource): Promise<Connection> {
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT ?? '443';
  if (host === undefined || host === '')
    throw notInCluster('the environment variable KUBERNETES_SERVICE_HOST is not set');
  const read = (name: string) =>
    readFile(join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw notInCluster(`${join(directory, name)} cannot be read (${error.code ?? 'unknown cause'})`);
    });
  let ca = await read('ca.crt');
  const namespace = await read('namespace').catch(() => undefined);
  const authorization = async () => `Bearer ${(await read('token')).trim()}`;
  await authorization();
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    // The kubelet renews both files. Each request reads the token.
    ca() {
      try {
        ca = readFileSync(join(directory, 'ca.crt'), 'utf8');
      } catch {
        // A request that failed must report its own error.
      }
      return ca;
    },
    namespace: namespace?.trim(),
    authorization,
  };
}

function notInCluster(found: string): ConfigError {
  return new ConfigError([
    `Found no credentials of a Kubernetes pod: ${found}. Outside a cluster, pass --kubeconfig. In a pod, set a ServiceAccount and do not set automountServiceAccountToken to false.`,
  ]);
}
