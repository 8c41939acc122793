import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { Access } from './constructs/access.ts';
import { CertManagerCertificate } from './constructs/cert-manager.ts';
import { ControllerManager } from './constructs/controller-manager.ts';
import { HelmJobs } from './constructs/helm-jobs.ts';
import { InjectorWebhook } from './constructs/injector-webhook.ts';
import { LumigoCrd } from './constructs/lumigo-crd.ts';
import { collectsNodes, NodeCollector } from './constructs/node-collector.ts';
import { Monitoring } from './constructs/monitoring.ts';
import { NetworkPolicy } from './constructs/network-policy.ts';
import { LumigoToken } from './constructs/lumigo-token.ts';
import { OperatorNamespace } from './constructs/operator-namespace.ts';
import { PodPolicy } from './constructs/pod-policy/pod-policy.ts';
import type { Delivery } from './constructs/runtime-environment.ts';
import { TelemetryProxy } from './constructs/telemetry-proxy.ts';
import { WebhookCertificate, type DeliveredCertificate } from './constructs/webhook-certificate.ts';
import { Updater } from './constructs/updater.ts';
import { UserRoles } from './constructs/user-roles.ts';
import { Guard } from './guard/guard.ts';
import { deliveryProblems } from './settings/cross-field-rules.ts';
import type { Manifest } from './constructs/manifest.ts';
import { parseSettings, SettingsError } from './settings/settings.ts';
import type { Settings } from './settings/schema.ts';

export interface OperatorProps {
  /**
   * The settings (docs/reference/settings.md), completed by `parseSettings`.
   * @default - every setting's own default
   */
  readonly settings?: Settings;
  /**
   * The tool that delivers the objects to the cluster.
   * @default 'Manifests'
   */
  readonly delivery?: Delivery;
  /**
   * The webhook's certificate, if the delivery created one.
   * @default - the operator issues one itself, and renews it
   */
  readonly certificate?: DeliveredCertificate | undefined;
}

/**
 * All objects of the operator, in the order to apply them. The chart has no `namespace`, because cdk8s would write it into cluster-wide
 * objects.
 * @throws SettingsError if the delivery cannot carry out a setting
 *
 * @example
 * ```ts
 * import { App } from 'cdk8s';
 * import { Operator, parseSettings } from 'lumigo-kubernetes-operator';
 *
 * const app = new App();
 * new Operator(app, 'lumigo-operator', { settings: parseSettings({ cluster: { name: 'production' } }) });
 * app.synth();
 * ```
 */
export class Operator extends Chart {
  readonly access: Access;
  readonly telemetryProxy: TelemetryProxy;
  readonly controllerManager: ControllerManager;
  readonly injectorWebhook: InjectorWebhook;

  constructor(scope: Construct, id: string, props: OperatorProps = {}) {
    super(scope, id, { disableResourceNameHashes: true });
    const { settings, delivery, certificate } = complete(props);
    const delivered = settings.certificates.issuer === 'delivery' ? certificate : undefined;
    if (settings.createNamespace) new OperatorNamespace(this, 'namespace', settings);
    new LumigoCrd(this, 'crd');
    this.access = new Access(this, 'access', settings);
    if (settings.guard !== 'None') new Guard(this, 'guard', settings);
    new UserRoles(this, 'user-roles', settings);
    if (settings.networkPolicy.enabled) new NetworkPolicy(this, 'network-policy', settings);
    issue(this, settings, delivered);
    new Monitoring(this, 'monitoring', settings);
    new LumigoToken(this, 'token', settings);
    if (settings.updater.mode !== 'off') new Updater(this, 'updater', settings, () => getRelease(settings));
    this.telemetryProxy = new TelemetryProxy(this, 'telemetry-proxy', settings);
    this.controllerManager = new ControllerManager(this, 'controller-manager', { settings, delivery });
    this.injectorWebhook = new InjectorWebhook(this, 'injector-webhook', settings);
    addLastParts(this, settings, delivery);
  }
}

function addLastParts(scope: Construct, settings: Settings, delivery: Delivery): void {
  if (collectsNodes(settings)) new NodeCollector(scope, 'node-collector', settings);
  if (settings.injection.podMode) new PodPolicy(scope, 'pod-policy', settings);
  if (delivery === 'Helm') new HelmJobs(scope, 'helm-jobs', settings);
}

function complete({ settings = parseSettings({}), delivery = 'Manifests', certificate }: OperatorProps) {
  const problems = [...deliveryProblems(delivery, settings)];
  if (problems.length > 0) throw new SettingsError(problems, 'The settings');
  return { settings, delivery, certificate };
}

function issue(scope: Construct, settings: Settings, delivered: DeliveredCertificate | undefined): void {
  if (delivered !== undefined) new WebhookCertificate(scope, 'certificate', settings, delivered);
  if (settings.certificates.issuer === 'cert-manager') new CertManagerCertificate(scope, 'cert-manager', settings);
}

/** Returns all objects of an installation, in the order to apply them. */
export const synthesize = (
  settings: Settings,
  delivery: Delivery = 'Manifests',
  certificate?: DeliveredCertificate,
): readonly Manifest[] =>
  new Operator(new App(), 'lumigo-operator', { settings, delivery, certificate }).toJson() as Manifest[];

/** Returns the objects that a release can have, without its updater, which needs rights for each: an upgrade can enable any. */
export const getRelease = (settings: Settings): readonly Manifest[] => {
  const all = new Operator(new App(), 'release', { settings: withEverything(settings), delivery: 'Helm' });
  return (all.toJson() as Manifest[]).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined);
};

/** Returns the settings with each feature that adds objects, except the updater. */
export function withEverything(settings: Settings): Settings {
  const { metrics, clusterCollection } = settings;
  return {
    ...settings,
    priorityClassName: '',
    priorityClass: { create: true },
    guard: 'Deny',
    monitoredNamespaces: parseSettings({ monitoredNamespaces: [{ namespace: 'any' }] }).monitoredNamespaces,
    networkPolicy: { ...settings.networkPolicy, enabled: true },
    metrics: {
      secure: true,
      serviceMonitor: { ...metrics.serviceMonitor, enabled: true },
      prometheusRule: { ...metrics.prometheusRule, enabled: true },
      silentWorkloadsRule: { ...metrics.silentWorkloadsRule, enabled: true },
      dashboard: { ...metrics.dashboard, enabled: true },
    },
    certificates: { issuer: 'cert-manager', issuerRef: {} },
    injection: { ...settings.injection, podMode: true },
    telemetry: { ...settings.telemetry, namespaceLabels: ['any'] },
    clusterCollection: {
      metrics: { ...clusterCollection.metrics, enabled: true },
      logs: { ...clusterCollection.logs, enabled: true },
    },
    kubeStateMetrics: { ...settings.kubeStateMetrics, install: true, address: '' },
    lumigoToken: { ...settings.lumigoToken, value: 'any' },
    updater: { ...settings.updater, mode: 'off' },
  };
}
