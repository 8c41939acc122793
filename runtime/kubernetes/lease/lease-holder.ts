import type { Metadata } from '../../api/objects.ts';
import type { Client } from '../http/client.ts';
import { isAlreadyExists, isConflict, isNotFound, undefinedIf } from '../http/errors.ts';
import type { ResourceRef } from '../http/paths.ts';
import { type ElectionTimes, heldSpec, type Lease, type LeaseSpec, releasedSpec } from './plan-lease.ts';
import { kinds } from '../resources/kinds.ts';

export interface LeaseOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  /** Owners of a Lease that this process creates. Default: none. */
  readonly owners?: (() => Promise<NonNullable<Metadata['ownerReferences']>>) | undefined;
  /** The pod's name. Two live processes must never share it. */
  readonly identity: string;
}

const leaseType = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };

/** Each write names the version that was read, so two of them never both succeed. */
export class LeaseHolder {
  private readonly ref: ResourceRef & { readonly name: string };

  constructor(
    private readonly options: LeaseOptions,
    private readonly times: ElectionTimes,
  ) {
    this.ref = { ...kinds.leases, namespace: options.namespace, name: options.name };
  }

  async read(signal?: AbortSignal): Promise<Lease | undefined> {
    return (await this.options.client.find(this.ref, this.call(signal))) as Lease | undefined;
  }

  /** Takes or renews the Lease. Undefined if it was changed, created or deleted since it was read. */
  hold(lease: Lease | undefined, signal?: AbortSignal): Promise<Lease | undefined> {
    return this.write(lease, heldSpec(lease?.spec, this.options.identity, this.times, new Date()), signal);
  }

  release(lease: Lease): Promise<Lease | undefined> {
    return this.write(lease, releasedSpec(lease.spec, new Date()));
  }

  private async write(lease: Lease | undefined, spec: LeaseSpec, signal?: AbortSignal): Promise<Lease | undefined> {
    if (lease === undefined) return this.create(spec, signal);
    const written = await this.options.client
      .update(this.ref, { ...lease, spec }, this.call(signal))
      .catch(undefinedIf((error) => isConflict(error) || isNotFound(error)));
    return written?.object;
  }

  private async create(spec: LeaseSpec, signal?: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name, owners } = this.options;
    const metadata = { namespace, name, ...(owners === undefined ? {} : { ownerReferences: await owners() }) };
    const written = await client
      .create({ ...kinds.leases, namespace }, { ...leaseType, metadata, spec }, this.call(signal))
      .catch(undefinedIf(isAlreadyExists));
    return written?.object;
  }

  private call(signal: AbortSignal | undefined) {
    const { renewDeadlineMs, retryPeriodMs } = this.times;
    // Two attempts fit between a failed renewal and the deadline, even if the first hangs on a dead connection.
    const timeoutMs = (renewDeadlineMs - retryPeriodMs) * 0.6;
    // A renewal has its own loop, in which it must not wait for a busy server.
    return { signal, pool: 'standing', timeoutMs, maxWaitMs: signal === undefined ? timeoutMs : 0 } as const;
  }
}
