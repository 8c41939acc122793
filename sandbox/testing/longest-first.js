import Sequencer from '@jest/test-sequencer';

/** The files that take longest start first: at the end, one of them would run alone. */
const longest = [
  'sandbox/faults/api-server',
  'runtime/uninstall/cleanup',
  'sandbox/faults/operator',
  'runtime/telemetry-proxy/toggling',
  'sandbox/faults/neighbours',
  'infra/project/readme',
  'runtime/reconciler/rollout',
  'runtime/telemetry-proxy/node-lines',
  'runtime/manager/manager',
].map((name) => `/${name}.cluster.test.ts`);

const longestOnNode = ['rollout', 'helm', 'takeover', 'received', 'manifests', 'rollout-odd', 'identity'].map(
  (name) => `/sandbox/e2e/${name}.e2e.test.ts`,
);
const first = [...longest, ...longestOnNode];

const getPlace = ({ path, context }) => {
  // Jest starts the runner of the first file first, so the tests that run alone follow.
  if (context.config.runner.endsWith('/alone.js')) return first.length + 1;
  const index = first.findIndex((name) => path.endsWith(name));
  return index < 0 ? first.length : index;
};

/** Jest orders files by their last duration or else their size, so a clean machine needs the lists above. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => getPlace(a) - getPlace(b));
  }
}
