import type { LogFiles, NodeCollectorConfig } from '../config/config.ts';
import { mounts } from '../contract.ts';

/** The kubelet writes log files at `NAMESPACE_POD_UID/CONTAINER/RESTARTS.log`. No pod can choose the path of its log. */
const pathOf = ({ namespacePattern = '*', podPattern = '*', containerPattern = '*' }: LogFiles): string =>
  `${mounts.podLogs}/${namespacePattern}_${podPattern}_*/${containerPattern}`;

/** 100 lines of a file become maps before the memory limiter, so each has few values. Maps round integers from 2^53 on. `parse_ints` would drop what follows the object. */
const becomesMap = String.raw`body startsWith "{" and not (body matches "^([^,{[]*[,{[]){257}" or body matches "[:,[]\\s*-?(9[0-9]{15}|[0-9]{17})")`;

/** Returns a receiver that continues at the position where the last process stopped. */
export function logReceiver(config: NodeCollectorConfig): object {
  const { logsInclude, logsExclude, excludedNamespaces, operatorNamespace } = config;
  const never = [...excludedNamespaces, operatorNamespace].map((namespacePattern) => ({ namespacePattern }));
  const included = (logsInclude.length === 0 ? [{}] : logsInclude).map(pathOf);
  const excluded = [...never, ...logsExclude].map(pathOf);
  return {
    // The kubelet rotates a file by a new name, and compresses it at the next rotation.
    include: included.flatMap((path) => [`${path}/*.log`, `${path}/*.log.*`]),
    exclude: [...excluded.map((path) => `${path}/*`), ...['gz', 'tmp'].map((end) => `${mounts.podLogs}/*/*/*.${end}`)],
    // Only for files that are there when the first process on a node starts.
    start_at: 'end',
    include_file_path: true,
    include_file_name: false,
    poll_interval: '500ms',
    storage: 'file_storage',
    retry_on_failure: { enabled: true, max_elapsed_time: '0s' },
    operators: [
      // A `container` knows all runtimes, takes the pod from the path, and joins parts of a file. So each stream has its own.
      { type: 'router', routes: [{ expr: 'body matches "^[^ ]+ stderr "', output: 'stderr' }], default: 'stdout' },
      ...['stdout', 'stderr'].map((id) => ({ type: 'container', id, output: 'json_parser' })),
      { type: 'json_parser', if: becomesMap, parse_to: 'body', on_error: 'send_quiet' },
    ],
  };
}

/** Lumigo recognizes lines of log files by this scope, as those of the original. */
export const logScope = {
  error_mode: 'ignore',
  log_statements: [{ context: 'scope', statements: ['set(name, "lumigo-operator.log_file_collector")'] }],
};
