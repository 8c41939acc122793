import { annotations, injector } from '../../../runtime/contract.ts';
import { labelValue } from '../../../runtime/injection/label.ts';
import type { Settings } from '../../settings/schema.ts';
import { operatorVersion } from '../../settings/version.ts';
import { any, fieldOr, text, type Cel } from '../cel.ts';
import { imageReference } from '../image.ts';
import { telemetryProxyUrl } from '../runtime-environment.ts';

/** CEL variables by name. An expression may use those before it as `variables.NAME`. */
export type Variables = Readonly<Record<string, Cel>>;

/** Splits a text at commas, as a person writes names. */
const namesIn = (list: Cel): Cel => `${list}.split(',').map(name, name.trim()).filter(name, name != '')`;

/** Returns a list of the settings. The expression contains one text, because a chart knows a list only as a whole. */
const listOf = (values: readonly string[]): Cel => namesIn(text(values.join(',')));

/** OpenShift gives each namespace a range of user ids. */
const OPENSHIFT_NAMESPACE = 'openshift.io/sa.scc.uid-range';

const isOpenShift: Readonly<Record<Settings['platform'], Cel>> = {
  auto: `${text(OPENSHIFT_NAMESPACE)} in ${fieldOr('namespaceObject', 'metadata.annotations', '{}')}`,
  kubernetes: 'false',
  openshift: 'true',
};

const settingsVariables = (settings: Settings): Variables => ({
  image: text(imageReference(settings.injectorWebhook.lumigoInjector.image, settings.imagePrefix)),
  imagePullPolicy: text(settings.injection.imagePullPolicy),
  pullSecrets: listOf(settings.injection.imagePullSecrets),
  sidecars: listOf(settings.injection.sidecars),
  endpoint: text(telemetryProxyUrl(settings)),
  ownLabel: text(labelValue(operatorVersion())),
  isOpenShift: isOpenShift[settings.platform],
});

/** The settings of the `Lumigo` in the pod's namespace. The schema has the defaults; an older definition may lack some. */
const lumigoVariables: Variables = {
  secretName: 'params.spec.lumigoToken.secretRef.name',
  secretKey: 'params.spec.lumigoToken.secretRef.key',
  traces: `string(${fieldOr('params', 'spec.tracing.enabled', 'true')})`,
  logs: `string(${fieldOr('params', 'spec.logging.enabled', 'false')})`,
};

const podVariables: Variables = {
  pod: 'object.spec',
  labels: fieldOr('object', 'metadata.labels', '{}'),
  annotations: fieldOr('object', 'metadata.annotations', '{}'),
  containers: 'variables.pod.containers',
  initContainers: fieldOr('variables.pod', 'initContainers', '[]'),
  volumes: fieldOr('variables.pod', 'volumes', '[]'),
  included: namesIn(`variables.annotations[?${text(annotations.injectContainers)}].orValue('')`),
  excluded: namesIn(`variables.annotations[?${text(annotations.excludeContainers)}].orValue('')`),
  isNameTaken: any(
    `variables.volumes.exists(volume, volume.name == ${text(injector.volume)})`,
    `variables.containers.exists(container, container.name == ${text(injector.container)})`,
    `variables.initContainers.exists(container, container.name == ${text(injector.container)})`,
  ),
};

/** The variables that the others are made of: settings, the `Lumigo`, and the parts of the pod. */
export const baseVariables = (settings: Settings): Variables => ({
  ...settingsVariables(settings),
  ...lumigoVariables,
  ...podVariables,
});
