import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { lumigo } from '../../runtime/contract.ts';
import { firstWave } from './labels.ts';
import { lumigoSchema } from './lumigo-schema.ts';

const column = (name: string, type: string, jsonPath: string, description: string) => ({
  name,
  type,
  jsonPath,
  description,
});

const ofCondition = (name: string, type: string, field: 'status' | 'reason', description: string) =>
  column(name, 'string', `.status.conditions[?(@.type=="${type}")].${field}`, description);

export const printerColumns = [
  ofCondition('Active', 'Active', 'status', 'True if the operator acts in this namespace'),
  ofCondition('Ready', 'Ready', 'status', 'True if Lumigo works in this namespace'),
  column(
    'Instrumented',
    'integer',
    '.status.instrumentedResourcesCount',
    'Number of instrumented workloads, or of injected pods in Pod mode',
  ),
  ofCondition('Rollout', 'RolledOut', 'reason', 'Progress of the instrumentation of existing workloads'),
  ofCondition('Token', 'TokenAccepted', 'reason', 'Whether Lumigo accepts the token'),
  ofCondition('Reason', 'Ready', 'reason', 'Reason of the condition Ready'),
  {
    ...column('Mode', 'string', '.spec.tracing.injection.mode', 'Objects that it injects into (`-o wide`)'),
    priority: 1,
  },
  column('Age', 'date', '.metadata.creationTimestamp', 'Time since the creation'),
];

/** A raw object, because the typed one of cdk8s drops fields that Kubernetes 1.28 lacked. */
export class LumigoCrd extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { group, kind, plural, singular, shortName, version } = lumigo;
    new ApiObject(this, 'definition', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: `${plural}.${group}`,
        annotations: firstWave,
        labels: { 'app.kubernetes.io/name': 'lumigo-operator', 'app.kubernetes.io/part-of': 'lumigo' },
      },
      spec: {
        group,
        scope: 'Namespaced',
        names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [shortName] },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            subresources: { status: {} },
            additionalPrinterColumns: printerColumns,
            schema: { openAPIV3Schema: lumigoSchema },
          },
        ],
      },
    });
  }
}
