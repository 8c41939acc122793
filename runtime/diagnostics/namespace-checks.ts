import { injector, pods, partOfSelector } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { DeepPartial } from '../api/objects.ts';
import type * as api from '@kubernetes/client-node';
import { listAll } from '../kubernetes/http/client.ts';
import type { CheckContext } from './check-context.ts';
import { failed, ok, type Outcome } from './finding.ts';
import { abridged } from '../wording/abridged.ts';

const MAX_SHOWN = 3;

/** Judges images by the pods that wait for them. Other programs may share the operator's namespace. */
export async function images(context: CheckContext): Promise<Outcome> {
  const { client, namespace } = context;
  const first = namespace ?? (await context.installed())?.operatorNamespace;
  const traced = (await context.lumigoes()).map(({ metadata }) => metadata.namespace);
  const waiting: string[] = [];
  for (const each of new Set([first, ...traced])) {
    if (each === undefined) continue;
    const found = await listAll(client, { ...pods, namespace: each }, { fieldSelector: 'status.phase=Pending' });
    waiting.push(...found.flatMap((pod) => withoutImage(pod as DeepPartial<api.V1Pod>)));
  }
  if (waiting.length === 0) return ok('No pod waits for an image of the injector or of the operator');
  return failed(abridged(waiting, MAX_SHOWN, '. '), 'See docs/install/private-registry.md');
}

function withoutImage({ metadata, status }: DeepPartial<api.V1Pod>): string[] {
  const isOperator = Object.entries(metadata?.labels ?? {}).some((label) => label.join('=') === partOfSelector);
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return all
    .filter(({ name, state }) => {
      const isImage = /ImagePull|InvalidImageName|ImageInspect/.test(state?.waiting?.reason ?? '');
      return isImage && (isOperator || name === injector.container);
    })
    .map(({ image, state }) => `Pod ${metadata?.namespace}/${metadata?.name}: ${state?.waiting?.reason} of ${image}`);
}

/** Judges `Lumigo` resources by their condition `Ready`, which includes the token. Reads no Secret. */
export async function lumigoes({ lumigoes: read }: CheckContext): Promise<Outcome> {
  const all = (await read()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const problems = all.flatMap(getProblem);
  if (problems.length > 0) return failed(abridged(problems, MAX_SHOWN, '. '), 'See docs/operate/troubleshooting.md');
  return ok(
    all.length === 0 ? 'There is no Lumigo resource yet' : `${all.length} of ${all.length} Lumigo resources are ready`,
  );
}

function getProblem({ metadata, status }: LumigoResource): string[] {
  const name = `Lumigo ${metadata.namespace}/${metadata.name}`;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.observedGeneration !== metadata.generation)
    return [`${name}: the operator has not reported its status yet`];
  return ready?.status === 'True' ? [] : [`${name}: ${ready?.message}`];
}
