import Sequencer from '@jest/test-sequencer';

/** Files that take a minute or more. They start first: at the end, one of them would run alone. */
const longest = [
  'sandbox/faults/api-server',
  'sandbox/faults/operator',
  'runtime/telemetry-proxy/tenants',
  'sandbox/faults/neighbours',
  'runtime/telemetry-proxy/secrets',
  'infra/project/readme',
  'runtime/uninstall/cleanup-finalizer',
  'infra/helm/chart',
  'runtime/reconciler/rollout',
  'infra/release/npm-package',
  'runtime/telemetry-proxy/forwarding',
  'infra/constructs/pod-mode',
  'runtime/reconciler/pod-mode',
  'sandbox/own-cluster/own-cluster',
  'runtime/telemetry-proxy/collection',
  'runtime/telemetry-proxy/telemetry-proxy',
  'runtime/telemetry-proxy/toggling',
  'sandbox/sandbox',
  'runtime/telemetry-proxy/replicas',
  'infra/helm/secrets',
].map((name) => `/${name}.cluster.test.ts`);

/** Small files that take longer than most on a node. */
const longestOnNode = ['identity', 'received'].map((name) => `/sandbox/e2e/${name}.e2e.test.ts`);
const first = [...longest, ...longestOnNode];

const getPlace = ({ path }) => {
  const index = first.findIndex((name) => path.endsWith(name));
  return index < 0 ? first.length : index;
};

/** Jest orders files by their last duration or else their size. Those that take longest precede them here. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => getPlace(a) - getPlace(b));
  }

  /** Each shard gets its share of the files that take longest. The order is the same on every machine. */
  shard(tests, { shardIndex, shardCount }) {
    const ordered = tests.toSorted((a, b) => getPlace(a) - getPlace(b) || (a.path < b.path ? -1 : 1));
    return ordered.filter((_test, index) => index % shardCount === shardIndex - 1);
  }
}
