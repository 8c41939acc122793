import { annotations, cleanupFinalizer, labels, lumigo, optInDefaults, probeLabel } from '../../runtime/contract.ts';
import { markdownTable } from '../settings/markdown-table.ts';
import { code, referencePage } from './page.ts';

interface Mark {
  readonly on: string;
  readonly values: string;
  readonly means: string;
}

const yourWorkload = 'workload, pod template';

const forOptIn = (values: string, fallback: string | boolean, means: string): Mark => ({
  on: 'workload',
  values: `${values}. Default: \`${fallback}\``,
  means: `With an opt-in: ${means}`,
});

const labelMarks = {
  autoTrace: {
    on: yourWorkload,
    values: '`true`, `false`, `lumigo-operator.v…`',
    means:
      'You: `false` opts out. On the workload, `true` opts in without a `Lumigo` resource. The operator: the version that wrote the injection.',
  },
  tokenSecret: forOptIn('a name', optInDefaults.tokenSecret, 'the Secret with the token, in the same namespace.'),
  tokenKey: forOptIn('a key', optInDefaults.tokenKey, 'the key in the Secret.'),
  enableTraces: forOptIn('`true`, `false`', optInDefaults.traces, 'sends traces.'),
  enableLogs: forOptIn('`true`, `false`', optInDefaults.logs, 'sends logs.'),
  rollout: {
    on: 'workload',
    values: '`reverted`',
    means: 'The operator: the injection was removed because pods failed with it.',
  },
  installation: {
    on: 'Service with metrics',
    values: 'the name of the installation',
    means: 'The manifests: the ServiceMonitor finds the Services of its installation by it.',
  },
} as const satisfies Readonly<Record<keyof typeof labels, Mark>>;

const annotationMarks = {
  retry: {
    on: 'workload',
    values: 'any new value',
    means: 'You: asks for another attempt after a revert, and with the strategy `manual` for the first.',
  },
  injectContainers: {
    on: yourWorkload,
    values: 'names, separated by commas',
    means: 'You: instruments these containers and no others.',
  },
  excludeContainers: {
    on: yourWorkload,
    values: 'names, separated by commas',
    means: 'You: does not instrument these containers. It wins over the other annotation.',
  },
  instrumentation: {
    on: 'workload',
    values: 'text',
    means: 'The operator: the last change of the injection and the skipped containers, or the reason for a revert.',
  },
  injection: {
    on: 'pod template, pod',
    values: 'JSON',
    means: 'The operator: the injection, and the values that it replaced. The removal restores them.',
  },
  safeToEvict: {
    on: 'pod template',
    values: 'names of volumes',
    means:
      "Belongs to the cluster autoscaler. The operator adds the injection's volume, so that it does not keep a node. The operator's pods name theirs.",
  },
  installation: {
    on: 'webhook configuration',
    values: '`namespace/name`',
    means: 'The operator: the installation that the webhook belongs to.',
  },
  cleanedUpBy: {
    on: "the operator's ServiceAccount",
    values: 'the name of a pod',
    means: 'The operator: the replica that cleans up while the account is deleted.',
  },
  mirror: { on: 'pod', values: '', means: 'Belongs to the kubelet. A pod with it is never injected.' },
} as const satisfies Readonly<Record<keyof typeof annotations, Mark>>;

const getRows = <K extends string>(names: Readonly<Record<K, string>>, marks: Readonly<Record<K, Mark>>) =>
  (Object.keys(marks) as K[]).map((key) => [code(names[key]), marks[key].on, marks[key].values, marks[key].means]);

/** Returns the page of labels, annotations and finalizers. The compiler asks for a row for each name of the contract. */
export const labelsReference = (): string =>
  referencePage(
    'Labels, annotations and finalizers',
    'runtime/contract.ts',
    'The table says if you or the operator sets a value. [Opt in and out](../use/opt-in-and-out.md) has examples.',
    '## Labels',
    markdownTable(['Label', 'On', 'Values', 'Meaning'], getRows(labels, labelMarks)),
    '## Annotations',
    markdownTable(['Annotation', 'On', 'Values', 'Meaning'], getRows(annotations, annotationMarks)),
    `The label and annotation \`${probeLabel}\` is part of dry runs only: no object is stored with it.`,
    '## Finalizers',
    markdownTable(
      ['Finalizer', 'On', 'Meaning'],
      [
        [
          code(lumigo.finalizer),
          '`Lumigo` resource',
          'Keeps the resource until the injections of its namespace are removed.',
        ],
        [
          code(cleanupFinalizer),
          "the operator's ServiceAccount, ClusterRole and ClusterRoleBinding",
          'Keeps the rights of the operator until everything is removed.',
        ],
      ],
    ),
  );
