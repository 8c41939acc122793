import { expect, it } from '@jest/globals';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import { orderEach, type HandledPod } from './kubelet-by-hand.ts';

const getPod = (name: string): KubernetesObject => ({ metadata: { name, uid: name, resourceVersion: '1' } });
const getReady = (name: string): HandledPod => ({
  name,
  uid: name,
  app: name,
  injector: undefined,
  hash: '',
  ordered: 'ready',
});

it('shows the outcome of each pod right after its own write', async () => {
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  const ordered = new Map<string, HandledPod>();
  const say = async ({ metadata: { name } }: KubernetesObject): Promise<HandledPod> => {
    await (name === 'slow' ? held : undefined);
    return getReady(name);
  };
  const shown = () => [...ordered.values()].map(({ name, ordered: outcome }) => [name, outcome]);
  const ordering = orderEach(['quick', 'slow'].map(getPod), ordered, say);
  await new Promise((resolve) => setImmediate(resolve));
  expect(shown()).toEqual([['quick', 'ready']]);
  answer();
  await ordering;
  expect(shown()).toContainEqual(['slow', 'ready']);
  await orderEach([getPod('slow')], ordered, () => Promise.resolve(undefined));
  expect(shown()).toEqual([['slow', 'ready']]);
});
