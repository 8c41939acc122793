import { startPodMode, tracedNamespace, type PodModeCluster } from '../sandbox/testing/pod-policy.ts';
import { getPod } from '../sandbox/testing/workloads.ts';
import { latencies, timed, type Figure } from './table.ts';

const ROUNDS = 5;
const PODS = 200;

/** Measures the creation of a pod, without Pod mode and with its policy, in turns. No operator runs. */
export async function measurePods(say: (line: string) => void): Promise<Figure[]> {
  const on = await startPodMode();
  try {
    const plain = await on.testCluster.namespaceForPods('plain');
    const traced = await tracedNamespace(on);
    const without: number[] = [];
    const within: number[] = [];
    for (let round = 0; round <= ROUNDS; round += 1) {
      say(`pods: round ${round} of ${ROUNDS}`);
      // The first round warms up.
      await turn(on, plain, round, round === 0 ? [] : without);
      await turn(on, traced, round, round === 0 ? [] : within);
    }
    return [...latencies('creation of a pod, without Pod mode', without), ...latencies('… with the policy', within)];
  } finally {
    await on.stop();
  }
}

async function turn({ testCluster }: PodModeCluster, namespace: string, round: number, into: number[]): Promise<void> {
  for (let index = 0; index < PODS; index += 1)
    into.push(await timed(() => testCluster.create(getPod(namespace, `pod-${round}-${index}`))));
}
