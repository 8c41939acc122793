import { Argument, InvalidArgumentError, Option } from 'commander';
import type { CommandModule } from './invocation.ts';

interface CommandSpec {
  readonly name: string;
  readonly argument?: Argument;
  readonly does: string;
  readonly options?: readonly Option[];
  /** Left out: only the operator's own containers use the command, so the help does not list it. */
  readonly example?: string;
  readonly load: () => Promise<CommandModule>;
}

export const UNINSTALL_SECONDS = 300;

const namespace = (meaning: string) => new Option('-n, --namespace <name>', meaning);
const output = new Option('-o, --output <format>', 'format of the result')
  .choices(['table', 'json', 'yaml'])
  .default('table');

export const commands: readonly CommandSpec[] = [
  {
    name: 'check',
    does: 'check the installation: definition, operator, certificate, webhook, policies, images and Lumigo resources',
    options: [
      namespace('check images and Lumigo resources of this namespace only'),
      new Option('--wait [seconds]', 'repeat until no check fails, for 120 s or the given time').argParser(seconds),
      output,
    ],
    example: 'lumigo check --wait',
    load: () => import('./check.ts'),
  },
  {
    name: 'preview',
    does: 'show the planned change of each workload, the reason, and if the API server accepts it; changes nothing',
    options: [
      namespace('only this namespace (default: every namespace with a Lumigo resource)'),
      new Option('--assume-lumigo', 'assume a Lumigo resource with the defaults in a namespace without one'),
      output,
    ],
    example: 'lumigo preview -n shop --assume-lumigo',
    load: () => import('./preview.ts'),
  },
  {
    name: 'explain',
    argument: new Argument('<kind/name>', 'a workload or a pod, for example deployment/cart'),
    does: 'explain why a workload or a pod is or is not instrumented',
    options: [namespace('its namespace (default: the namespace of your context)'), output],
    example: 'lumigo explain deployment/cart -n shop',
    load: () => import('./explain.ts'),
  },
  {
    name: 'status',
    does: 'show how far the rollout of a namespace is, workload by workload',
    options: [
      namespace('the namespace (default: the namespace of your context)'),
      new Option('-w, --watch', 'show each change until the rollout is complete'),
      output,
    ],
    example: 'lumigo status -w -n shop',
    load: () => import('./status.ts'),
  },
  {
    name: 'diagnose',
    does: 'write a file for support: objects, statuses, events, logs and versions, without Secrets and tokens',
    options: [
      namespace('only this namespace, besides the operator (default: every namespace with a Lumigo resource)'),
      new Option('--output <file>', 'the YAML file to write, or - for standard output').default('lumigo-diagnose.yaml'),
    ],
    example: 'lumigo diagnose --output report.yaml',
    load: () => import('./diagnose.ts'),
  },
  {
    name: 'uninstall',
    does: 'delete every Lumigo resource, wait until the injection is removed, and list what is left',
    options: [
      new Option('--deadline <seconds>', 'maximum time to wait').argParser(seconds).default(UNINSTALL_SECONDS),
      new Option('--helm-hook', "do nothing unless Helm installed this operator (for the chart's hook)"),
      output,
    ],
    example: 'lumigo uninstall --deadline 600',
    load: () => import('./uninstall.ts'),
  },
  {
    name: 'completion',
    argument: new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']),
    does: 'print a script that completes commands and flags in your shell',
    example: 'source <(lumigo completion bash)',
    load: () => import('./completion.ts'),
  },
  {
    name: 'manager',
    does: 'run the operator: the injector webhook and, on the replica that leads, the reconciler',
    load: () => import('./manager.ts'),
  },
  {
    name: 'update',
    does: 'look for a newer version, and upgrade the Helm release if the settings allow it',
    load: () => import('./update.ts'),
  },
  {
    name: 'prepare-telemetry-proxy',
    does: 'write the files that the telemetry proxy needs to start',
    load: () => import('./prepare-telemetry-proxy.ts'),
  },
  {
    name: 'prepare-node-collector',
    does: 'write the configuration of the collector on this node',
    load: () => import('./prepare-node-collector.ts'),
  },
];

function seconds(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('it must be a whole number of seconds, 1 or more.');
  return Number(text);
}
