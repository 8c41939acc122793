import Sequencer from '@jest/test-sequencer';

/** Files that take a minute or more. They start first: at the end, one of them would run alone. */
const longest = [
  'infra/project/readme',
  'sandbox/faults/api-server',
  'sandbox/faults/operator',
  'sandbox/faults/neighbours',
  'runtime/uninstall/cleanup',
  'runtime/telemetry-proxy/toggling',
  'runtime/telemetry-proxy/tenants',
  'runtime/telemetry-proxy/secrets',
  'infra/guard/guard',
  'runtime/reconciler/rollout',
  'infra/release/npm-package',
  'runtime/reconciler/pod-mode',
  'runtime/telemetry-proxy/collection',
  'runtime/access/access',
  'runtime/telemetry-proxy/forwarding',
  'runtime/certificates/certificates',
  'runtime/telemetry-proxy/node-lines',
  'runtime/diagnostics/commands',
  'infra/constructs/editor-reach',
  'runtime/telemetry-proxy/telemetry-proxy',
  'runtime/reconciler/running-pods',
  'infra/helm/chart',
  'runtime/telemetry-proxy/optional-data',
  'runtime/telemetry-proxy/render',
  'infra/release/publish',
  'infra/constructs/pod-mode',
  'runtime/installation/installation',
  'sandbox/own-cluster/own-cluster',
  'sandbox/sandbox',
].map((name) => `/${name}.cluster.test.ts`);

const longestOnNode = ['helm', 'rollout', 'received', 'manifests', 'node-collector', 'takeover', 'identity'].map(
  (name) => `/sandbox/e2e/${name}.e2e.test.ts`,
);
const first = [...longest, ...longestOnNode];

const getPlace = ({ path, context }) => {
  // Jest starts the runner of the first file first, so the tests that run alone follow.
  if (context.config.runner.endsWith('/alone.js')) return first.length + 1;
  const index = first.findIndex((name) => path.endsWith(name));
  return index < 0 ? first.length : index;
};

/** Jest orders files by their last duration or else their size. Those that take longest precede them here. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => getPlace(a) - getPlace(b));
  }
}
