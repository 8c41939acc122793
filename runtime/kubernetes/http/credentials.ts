import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../../wording/errors.ts';

/** Where the API server is, how to trust it, and who we are to it. */
export interface Connection {
  readonly server: URL;
  /** PEM. Without it the system's authorities count. */
  readonly ca?: string | Buffer | undefined;
  /** Trusts any certificate. Only a kubeconfig can ask for it. */
  readonly insecure?: boolean | undefined;
  /** The name to expect in the certificate, where it is not the server's host. */
  readonly serverName?: string | undefined;
  readonly cert?: string | Buffer | undefined;
  readonly key?: string | Buffer | undefined;
  /** Fixed headers beside Authorization, e.g. `Impersonate-User`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The namespace that the credentials name: the pod's own, or the kubeconfig context's. */
  readonly namespace?: string | undefined;
  /**
   * The Authorization header, e.g. `Bearer …`; undefined where a client certificate speaks.
   * `refused`: the server answered 401 to the last one, so a cached value must not come back without a look at its source.
   */
  authorization(refused?: boolean): Promise<string | undefined>;
}

interface InClusterSource {
  /** Where the ServiceAccount's files are mounted (contract.ts, `mounts.serviceAccount`). */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now?: (() => number) | undefined;
}

/** The kubelet renews a token when 80% of its life (an hour) is over, so a minute's delay is never too long. */
const tokenLifeMs = 60_000;

/** The credentials of the pod's ServiceAccount. Throws a ConfigError where this is not a pod of a cluster. */
export async function inCluster({ directory, env, now = Date.now }: InClusterSource): Promise<Connection> {
  const host = env.KUBERNETES_SERVICE_HOST;
  const port = env.KUBERNETES_SERVICE_PORT ?? '443';
  if (host === undefined || host === '')
    throw notInCluster('the environment variable KUBERNETES_SERVICE_HOST is not set');
  const read = (name: string) =>
    readFile(join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw notInCluster(`${join(directory, name)} cannot be read (${error.code ?? 'unknown cause'})`);
    });
  const [ca, namespace] = await Promise.all([read('ca.crt'), read('namespace').catch(() => undefined)]);
  const token = cachedToken(() => read('token'), now);
  await token();
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    ca,
    namespace: namespace?.trim(),
    authorization: token,
  };
}

function notInCluster(found: string): ConfigError {
  return new ConfigError([
    `Found no credentials of a Kubernetes pod: ${found}. Outside a cluster, pass --kubeconfig. In a pod, set a ServiceAccount and do not set automountServiceAccountToken to false.`,
  ]);
}

function cachedToken(read: () => Promise<string>, now: () => number): (refused?: boolean) => Promise<string> {
  let known: { header: string; readAt: number } | undefined;
  return async (refused = false) => {
    if (known !== undefined && !refused && now() - known.readAt < tokenLifeMs) return known.header;
    known = { header: `Bearer ${(await read()).trim()}`, readAt: now() };
    return known.header;
  };
}
