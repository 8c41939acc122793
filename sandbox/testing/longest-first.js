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
  'runtime/manager/large-objects',
  'runtime/manager/manager',
].map((name) => `/${name}.cluster.test.ts`);

const longestOnNode = 'rollout helm manifests identity takeover release received rollout-odd'.split(' ');
const first = [...longest, ...longestOnNode.map((name) => `/sandbox/e2e/${name}.e2e.test.ts`)];

/** Jest orders files by their last duration or else their size, so a clean machine needs the lists above. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const places = new Map(sorted.map((test) => [test, getPlace(test, sorted)]));
    return sorted.toSorted((a, b) => places.get(a) - places.get(b));
  }
}

function getPlace({ path, context }, sorted) {
  // Jest starts the runner of the first file first, so the tests that run alone follow.
  if (context.config.runner.endsWith('/alone.js')) return first.length + 1;
  const index = first.findIndex((name) => path.endsWith(name));
  if (index >= 0) return index;
  // Each project is spread evenly: unit tests use the processors while tests of other projects wait.
  const project = sorted.filter((test) => test.context === context).map((test) => test.path);
  return first.length + project.indexOf(path) / project.length;
}
