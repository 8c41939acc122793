import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { nodeCollectorFiles, suffixes, workloadKinds } from '../contract.ts';
import type { CredentialCache } from '../credentials/cache.ts';
import type { TokenSource } from '../credentials/credential.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isAlreadyExists } from '../kubernetes/http/errors.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { writeNodeKeys } from './files.ts';
import { TokenCache } from './tokens.ts';

interface NodeKeyOptions {
  readonly config: RuntimeConfig;
  readonly credentials: CredentialCache;
  readonly client: Client;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * The key with which the node collectors send. The leader creates the Secret, and each replica accepts its key. It has the form of a token,
 * so that each text hides it as one. A replaced key is accepted for one more hour, because a node reads the new one later.
 */
export class NodeKey {
  private readonly keys = new TokenCache();
  private accepted: readonly string[] = [];
  private attempts = 0;
  private creating: Promise<void> | undefined;

  constructor(private readonly options: NodeKeyOptions) {}

  /** Returns true as soon as this replica accepts a key. */
  reconcile(leads: boolean): boolean {
    const { config, credentials } = this.options;
    const source = this.source();
    credentials.want('node-key', [source]);
    const found = credentials.get(source);
    if (leads && found?.problem?.reason === 'SecretNotFound') this.creating ??= this.create();
    if (found?.token === undefined) return this.accepted.length > 0;
    const accepted = this.keys.acceptsSenders(new Map([['key', found]]), performance.now());
    if (!isDeepStrictEqual(accepted, this.accepted)) writeNodeKeys(config, accepted);
    this.accepted = accepted;
    return true;
  }

  /** A new revision is read at once: after an attempt, and every 10 s, because nodes drop what a replica refuses. */
  private source(): TokenSource {
    const { operatorNamespace: namespace, operatorName } = this.options.config;
    const revision = `${this.attempts}/${Math.floor(performance.now() / 10_000)}`;
    return { namespace, name: `${operatorName}${suffixes.nodeCollector}`, key: nodeCollectorFiles.key, revision };
  }

  private async create(): Promise<void> {
    const { signal, logger } = this.options;
    const failure = 'cannot create the key of the node collectors, retrying';
    await retrying(() => this.createOnce(), { signal, logger, failure });
    this.attempts += 1;
    this.creating = undefined;
  }

  /** The Secret is deleted with the DaemonSet. */
  private async createOnce(): Promise<void> {
    const { client, logger } = this.options;
    const { namespace, name, key } = this.source();
    const { apiVersion, kind } = workloadKinds.daemonSet;
    const { metadata } = await client.get({ ...workloadKinds.daemonSet, namespace, name }, { metadataOnly: true });
    const ownerReferences = [{ apiVersion, kind, name, uid: metadata.uid }];
    const stringData = { [key]: `t_${randomBytes(11).toString('hex').slice(1)}` };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace, ownerReferences }, stringData };
    try {
      await client.create({ ...kinds.secrets, namespace }, secret);
      logger.info({ secret: name }, 'created the key of the node collectors');
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
  }
}
