import { ApiObject, App, Chart, JsonPatch } from 'cdk8s';
import { Namespace, Secret, type ISecret } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { Lumigo, type LumigoSpec } from '../../imports/operator.lumigo.io.ts';
import { lumigo, optInDefaults } from '../../runtime/contract.ts';
import type { Manifest } from './manifest.ts';

/** The key of a Secret. cdk8s-plus' `SecretValue` is one. */
export interface TokenReference {
  readonly secret: Pick<ISecret, 'name'>;
  readonly key: string;
}

/** The entry of an external store that External Secrets Operator copies into the Secret. */
export interface ExternalToken {
  readonly store: { readonly name: string; readonly kind?: 'SecretStore' | 'ClusterSecretStore' };
  /** For example `{ key: 'shop/lumigo', property: 'token' }`. */
  readonly remoteRef: { readonly key: string; readonly property?: string };
}

export interface TracedNamespaceProps {
  readonly namespace: string;
  /**
   * False if another manifest creates the namespace. Set it from the start: later, Pulumi, Argo CD or Flux deletes the namespace.
   * @default true
   */
  readonly createNamespace?: boolean;
  /**
   * The labels of the namespace.
   * @default - none
   */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * The Secret with the Lumigo token, in this namespace. The construct never contains the token itself.
   * @default - the key `token` of the Secret `lumigo-credentials`
   */
  readonly token?: TokenReference;
  /**
   * An ExternalSecret creates the Secret of `token` from this entry.
   * @default - you create the Secret
   */
  readonly externalToken?: ExternalToken;
  /**
   * The other fields of the `Lumigo` resource.
   * @default - the defaults of its definition
   */
  readonly spec?: Omit<LumigoSpec, 'lumigoToken'>;
}

/**
 * The objects that a team commits for a namespace: the namespace, a `Lumigo` resource, and on request an ExternalSecret for its token.
 *
 * @example
 * ```ts
 * import { App, Chart } from 'cdk8s';
 * import { TracedNamespace } from 'lumigo-kubernetes-operator';
 *
 * const app = new App();
 * new TracedNamespace(new Chart(app, 'shop'), 'traced', { namespace: 'shop', spec: { logging: { enabled: true } } });
 * app.synth();
 * ```
 */
export class TracedNamespace extends Construct {
  constructor(scope: Construct, id: string, props: TracedNamespaceProps) {
    super(scope, id);
    const { namespace, createNamespace = true, labels = {}, externalToken, spec } = props;
    const token = props.token ?? {
      secret: Secret.fromSecretName(this, 'token', optInDefaults.tokenSecret),
      key: optInDefaults.tokenKey,
    };
    if (createNamespace) withoutNamespace(new Namespace(this, 'namespace', { metadata: { name: namespace, labels } }));
    if (externalToken !== undefined)
      new ApiObject(this, 'external-token', externalSecret(namespace, token, externalToken));
    new Lumigo(this, 'lumigo', {
      metadata: { name: lumigo.singular, namespace },
      spec: { ...spec, lumigoToken: { secretRef: { name: token.secret.name, key: token.key } } },
    });
  }
}

/** cdk8s writes the namespace of a chart into cluster-wide objects, too. */
function withoutNamespace(namespace: Namespace): void {
  if (Chart.of(namespace).namespace !== undefined)
    ApiObject.of(namespace).addJsonPatch(JsonPatch.remove('/metadata/namespace'));
}

const externalSecret = (
  namespace: string,
  { secret, key }: TokenReference,
  { store, remoteRef }: ExternalToken,
): Manifest => ({
  apiVersion: 'external-secrets.io/v1',
  kind: 'ExternalSecret',
  metadata: { name: secret.name, namespace },
  spec: {
    secretStoreRef: { kind: 'SecretStore', ...store },
    target: { name: secret.name },
    data: [{ secretKey: key, remoteRef }],
  },
});

/** Returns the objects of a traced namespace, in the order to apply them. */
export function renderTracedNamespace(props: TracedNamespaceProps): readonly Manifest[] {
  const chart = new Chart(new App(), 'traced-namespace');
  new TracedNamespace(chart, 'traced-namespace', props);
  return chart.toJson() as Manifest[];
}
