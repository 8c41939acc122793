import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { annotations, lumigo, paths, suffixes, webhooks } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorUser } from './access.ts';
import { apiVersion, includedNamespaces, workloadRules } from './admission.ts';
import { injectedFrom } from './cert-manager.ts';
import { labels, selectorLabels, type Installation } from './labels.ts';
import { injectorConditions, lumigoConditions } from './match-conditions.ts';

const operations = ['CREATE', 'UPDATE'];

export type InjectorWebhookProps = Installation & Pick<Settings, 'webhook' | 'certificates'>;

/**
 * How the API server finds the webhook and what it sends there. The authority of its certificate (`caBundle`) is left
 * out: whoever issues the certificate writes it, and applying these manifests again must not take it away.
 */
export class InjectorWebhook extends Construct {
  readonly serviceName: string;
  /** Of the MutatingWebhookConfiguration. */
  readonly configurationName: string;

  constructor(scope: Construct, id: string, props: InjectorWebhookProps) {
    super(scope, id);
    const { name, namespace } = props;
    const service = `${name}${suffixes.webhookService}`;
    this.serviceName = service;
    this.configurationName = `${name}${suffixes.injectorWebhook}`;
    const operator = operatorUser(props);
    const common = labels(props, 'webhook');

    new k8s.KubeService(this, 'service', {
      metadata: { name: service, namespace, labels: common },
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
          ...(props.certificates.issuer === 'cert-manager' ? injectedFrom(props) : {}),
        },
      },
      webhooks: [
        {
          name: webhooks.injector,
          ...callOf(props, paths.inject),
          rules: workloadRules(operations).map((rule) => ({ ...rule, scope: 'Namespaced' })),
          // Another webhook may add a container after this one: that container wants the injection too.
          reinvocationPolicy: 'IfNeeded',
          namespaceSelector: includedNamespaces(props),
          matchConditions: injectorConditions(operator),
        },
        {
          name: webhooks.lumigoes,
          ...callOf(props, paths.lumigoes),
          rules: [
            {
              apiGroups: [lumigo.group],
              apiVersions: [lumigo.version],
              resources: [lumigo.plural],
              operations,
              scope: 'Namespaced',
            },
          ],
          reinvocationPolicy: 'Never',
          matchConditions: lumigoConditions(operator),
        },
      ],
    });
  }
}

/** The way to call one path of the service. */
const callOf = ({ name, namespace, webhook }: InjectorWebhookProps, path: string) => ({
  clientConfig: { service: { name: `${name}${suffixes.webhookService}`, namespace, path, port: 443 } },
  admissionReviewVersions: ['v1'],
  failurePolicy: 'Ignore',
  matchPolicy: 'Equivalent',
  sideEffects: 'None',
  timeoutSeconds: webhook.timeoutSeconds,
});
