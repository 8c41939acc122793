import type { InjectionConfig } from '../config/config.ts';
import { lumigo as contract, optInDefaults, workloads } from '../contract.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { isForbidden, isNotFound, undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { toPreview, type NamespacePreview } from './render-verdicts.ts';
import { verdictOn, type Verdict, type VerdictContext } from './verdict.ts';

export interface ReadOptions extends VerdictContext {
  readonly transport: Transport;
  /** Receives a sentence for each part that is missing from the result. */
  readonly note: (text: string) => void;
}

interface PreviewOptions extends ReadOptions {
  /** Undefined: each namespace with a `Lumigo` resource. */
  readonly namespace: string | undefined;
  /** The policy of a namespace without a `Lumigo` resource. */
  readonly assume: NamespacePolicy | undefined;
}

const PAGE_SIZE = 100;
const groupPath = `/apis/${contract.apiVersion}`;

export async function preview(options: PreviewOptions): Promise<readonly NamespacePreview[]> {
  const { namespace, assume, config } = options;
  const lumigoes = await listLumigoes(options);
  const found = new Set(lumigoes.map(({ metadata }) => metadata.namespace));
  const store = toStore(lumigoes, config);
  const previews: NamespacePreview[] = [];
  for (const each of namespace === undefined ? [...found].sort() : [namespace]) {
    const known = store.policy(each);
    const policy = known.kind === 'none' ? (assume ?? known) : known;
    const verdicts: Verdict[] = [];
    for await (const { kind, workload } of workloadsIn(each, options)) {
      const verdict = await verdictOn(kind, workload, policy, options);
      // A Deployment's ReplicaSets and a CronJob's Jobs follow their owner.
      if (verdict !== undefined && verdict.decision.code !== 'left-to-owner') verdicts.push(verdict);
    }
    previews.push(toPreview(each, describePolicy(policy), verdicts, config));
  }
  return previews;
}

export async function* workloadsIn(namespace: string, { client, note }: ReadOptions) {
  for (const kind of workloads)
    try {
      for await (const { items } of client.pages({ ...kind, namespace }, { limit: PAGE_SIZE }))
        yield* items.map((item) => ({ kind, workload: { ...item, apiVersion: kind.apiVersion, kind: kind.kind } }));
    } catch (error) {
      if (!isForbidden(error)) throw error;
      // Without rights, the API server answers 403 even if the add-on is not installed, so no note is necessary.
      if (kind.addOn === undefined) note(`Your account cannot list ${kind.plural}, which are left out.`);
    }
}

/** Uses discovery, which is open to each account. The group has this kind alone. */
export const isServed = async (transport: Transport): Promise<boolean> =>
  (await transport.request({ method: 'GET', path: groupPath }).catch(undefinedIfNotFound)) !== undefined;

/** Returns none before an installation. Throws an Error if the account cannot list them. */
export async function listLumigoes({ client, transport, namespace }: Omit<PreviewOptions, 'assume'>) {
  try {
    return (await listAll(client, { ...contract, namespace })) as unknown as readonly LumigoResource[];
  } catch (error) {
    // Without rights, the API server answers 403 also if it does not serve them.
    if (isNotFound(error) || (isForbidden(error) && !(await isServed(transport)))) return [];
    if (!isForbidden(error) || namespace !== undefined) throw error;
    throw new Error('your account cannot list Lumigo resources of all namespaces; name one namespace (-n NAMESPACE)', {
      cause: error,
    });
  }
}

/** Judges `Lumigo` resources as the manager does. */
export function toStore(lumigoes: readonly LumigoResource[], config: InjectionConfig): LumigoStore {
  const store = new LumigoStore([...config.excludedNamespaces, config.operatorNamespace]);
  for (const lumigo of lumigoes) store.upsert(lumigo);
  return store;
}

/** The policy of `--assume-lumigo`: a `Lumigo` resource with the defaults and a valid Secret. */
export const assumedPolicy: NamespacePolicy = {
  kind: 'active',
  lumigo: 'lumigo (assumed)',
  tracing: { secretName: optInDefaults.tokenSecret, secretKey: optInDefaults.tokenKey, traces: true, logs: false },
  createdAt: '',
  injectExisting: true,
  remove: true,
};

export function describePolicy(policy: NamespacePolicy): string {
  if (policy.kind === 'none')
    return 'no Lumigo is in effect. Only workloads with the label lumigo.auto-trace: "true" are instrumented';
  if (policy.kind === 'excluded') return 'it is never instrumented';
  const lumigo = `the Lumigo '${policy.lumigo}'`;
  if (policy.kind === 'inactive') return `${lumigo} is not active (${policy.reason}). Nothing is injected until it is`;
  const words = {
    active: 'is active',
    pods: 'injects into new pods and changes no workload',
    disabled: 'has injection switched off',
    deleting: 'is being deleted',
  };
  return `${lumigo} ${words[policy.kind]}`;
}
