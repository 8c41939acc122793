import { expect, it } from '@jest/globals';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import { eventually } from './eventually.ts';
import { KubeletByHand } from './kubelet-by-hand.ts';
import type { TestCluster } from './test-cluster.ts';

const getPod = (name: string): KubernetesObject => ({
  metadata: { name, uid: name, resourceVersion: '1', labels: { app: name } },
});

it('shows the outcome of each pod right after its own write', async () => {
  let there = ['quick', 'slow'];
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  const testCluster = {
    client: {
      async *pages() {
        yield await Promise.resolve({ items: there.map(getPod) });
      },
    },
    setStatus: ({ name }: { name: string }) => (name === 'slow' ? held : Promise.resolve()),
  };
  const kubelet = new KubeletByHand(testCluster as unknown as TestCluster, 'shop');
  const shown = () => kubelet.seen().map(({ name, ordered }) => [name, ordered]);
  try {
    await eventually(() => expect(shown()).toEqual([['quick', 'ready']]), { timeoutMs: 3_000 });
    answer();
    await eventually(() => expect(shown()).toContainEqual(['slow', 'ready']));
    there = ['slow'];
    await eventually(() => expect(shown()).toEqual([['slow', 'ready']]));
  } finally {
    answer();
    await kubelet.stop();
  }
});
