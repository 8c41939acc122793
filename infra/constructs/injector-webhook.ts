import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { annotations, lumigo, paths, suffixes, webhooks } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorUser } from './access.ts';
import { apiVersion, includedNamespaces, named, namespacedRule, workloadRules } from './admission.ts';
import { injectedFrom } from './cert-manager.ts';
import { labels, selectorLabels, type Installation } from './labels.ts';
import { injectorConditions, lumigoConditions } from './match-conditions.ts';

const operations = ['CREATE', 'UPDATE'];

export type InjectorWebhookProps = Installation & Pick<Settings, 'webhook' | 'certificates'>;

/** The issuer of the certificate writes `caBundle`. It is left out, so applying these manifests again does not remove it. */
export class InjectorWebhook extends Construct {
  readonly serviceName: string;
  readonly configurationName: string;

  constructor(scope: Construct, id: string, props: InjectorWebhookProps) {
    super(scope, id);
    const { name, namespace } = props;
    this.serviceName = `${name}${suffixes.webhookService}`;
    this.configurationName = `${name}${suffixes.injectorWebhook}`;
    const operator = operatorUser(props);
    const common = labels(props, 'webhook');

    new k8s.KubeService(this, 'service', {
      metadata: { name: this.serviceName, namespace, labels: common },
      spec: {
        type: 'ClusterIP',
        selector: selectorLabels(props),
        ports: [{ name: 'webhook', port: 443, targetPort: k8s.IntOrString.fromString('webhook'), protocol: 'TCP' }],
      },
    });

    new ApiObject(this, 'configuration', {
      apiVersion,
      kind: 'MutatingWebhookConfiguration',
      metadata: {
        name: this.configurationName,
        labels: common,
        annotations: {
          [annotations.installation]: `${namespace}/${name}`,
          // Otherwise AKS writes `namespaceSelector` and owns it, so the next server-side apply is a conflict.
          'admissions.enforcer/disabled': 'true',
          ...(props.certificates.issuer === 'cert-manager' ? injectedFrom(props) : {}),
        },
      },
      webhooks: [
        {
          name: webhooks.injector,
          ...toCall(props, paths.inject),
          rules: workloadRules(operations).map((rule) => ({ ...rule, scope: 'Namespaced' })),
          // A webhook that is called later may add a container, which also needs the injection.
          reinvocationPolicy: 'IfNeeded',
          namespaceSelector: includedNamespaces(props),
          matchConditions: named(injectorConditions(operator)),
        },
        {
          name: webhooks.lumigoes,
          ...toCall(props, paths.lumigoes),
          rules: [namespacedRule(lumigo, operations)],
          reinvocationPolicy: 'Never',
          matchConditions: named(lumigoConditions(operator)),
        },
      ],
    });
  }
}

const toCall = ({ name, namespace, webhook }: InjectorWebhookProps, path: string) => ({
  clientConfig: { service: { name: `${name}${suffixes.webhookService}`, namespace, path, port: 443 } },
  admissionReviewVersions: ['v1'],
  failurePolicy: 'Ignore',
  matchPolicy: 'Equivalent',
  sideEffects: 'None',
  timeoutSeconds: webhook.timeoutSeconds,
});
