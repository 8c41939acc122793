/** The exports of the npm package for cdk8s programs. `./pulumi` exports the Pulumi component (pulumi/index.ts). */
export { Access, type AccessProps } from './constructs/access.ts';
export { ControllerManager, type ControllerManagerProps } from './constructs/controller-manager.ts';
export { InjectorWebhook, type InjectorWebhookProps } from './constructs/injector-webhook.ts';
export { Lumigo, type LumigoProps, type LumigoSpec } from './constructs/lumigo.ts';
export { LumigoCrd } from './constructs/lumigo-crd.ts';
export { Monitoring, type MonitoringProps } from './constructs/monitoring.ts';
export { NetworkPolicy, type NetworkPolicyProps } from './constructs/network-policy.ts';
export { TelemetryProxy, type TelemetryProxyProps } from './constructs/telemetry-proxy.ts';
export {
  TracedNamespace,
  type ExternalToken,
  type TokenReference,
  type TracedNamespaceProps,
} from './constructs/traced-namespace.ts';
export { UserRoles } from './constructs/user-roles.ts';
export { Operator, type OperatorProps } from './operator.ts';
export { loadSettings, parseSettings, SettingsError, type Settings } from './settings/settings.ts';
