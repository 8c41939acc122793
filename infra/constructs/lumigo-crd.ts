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

const active = '.status.conditions[?(@.type=="Active")]';

/** The `kubectl get lumigoes` of every user: whether it works, for how much, and if not, why. */
const columns = [
  column('Active', 'string', `${active}.status`, 'Whether Lumigo works in this namespace'),
  column(
    'Instrumented',
    'integer',
    '.status.instrumentedResourcesCount',
    'How many workloads are instrumented, or pods',
  ),
  column('Reason', 'string', `${active}.reason`, 'Why it is active, or is not'),
  column(
    'Rollout',
    'string',
    '.status.conditions[?(@.type=="RolledOut")].reason',
    'How far what exists is instrumented',
  ),
  column('Mode', 'string', '.spec.tracing.injection.mode', 'Whether workloads are injected, or pods'),
  column('Age', 'date', '.metadata.creationTimestamp', 'How long ago it was created'),
];

/**
 * The custom resource definition of Lumigo resources. A raw object, because cdk8s' typed one silently drops fields that
 * Kubernetes 1.28 did not have. It is the same for every installation of a cluster, so no setting enters.
 */
export class LumigoCrd extends Construct {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const { group, kind, listKind, plural, singular, shortName, version } = lumigo;
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
        names: { kind, listKind, plural, singular, shortNames: [shortName] },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            subresources: { status: {} },
            additionalPrinterColumns: columns,
            schema: { openAPIV3Schema: lumigoSchema },
          },
        ],
      },
    });
  }
}
