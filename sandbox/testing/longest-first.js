import Sequencer from '@jest/test-sequencer';

/** What takes a minute and more: begun last, as their small files would have it, one of them would have the machine for itself. */
const longest = [
  'sandbox/faults/api-server',
  'runtime/telemetry-proxy/secrets',
  'sandbox/faults/operator',
  'runtime/uninstall/cleanup-finalizer',
  'sandbox/faults/neighbours',
  'runtime/token-checks/token-checks',
  'runtime/telemetry-proxy/tenants',
  'runtime/telemetry-proxy/forwarding',
  'runtime/telemetry-proxy/collection',
  'runtime/telemetry-proxy/replicas',
].map((name) => `/${name}.cluster.test.ts`);

/** Jest's own order, which goes by how long each file took before and else by its size, behind those that are known to take longest. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const index = longest.findIndex((name) => path.endsWith(name));
      return index < 0 ? longest.length : index;
    };
    return super.sort(tests).toSorted((a, b) => place(a) - place(b));
  }
}
