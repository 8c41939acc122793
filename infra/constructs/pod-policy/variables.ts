import { annotations, injector } from '../../../runtime/contract.ts';
import { labelValue } from '../../../runtime/injection/label.ts';
import type { Settings } from '../../settings/schema.ts';
import { operatorVersion } from '../../settings/version.ts';
import type { Expressions } from '../admission.ts';
import { any, entryOr, fieldOr, listOf, text, type Cel } from '../cel.ts';
import { injectionVariables } from '../injected.ts';
import { telemetryProxyUrl } from '../runtime-environment.ts';

const names = (list: Cel): Cel => `${list}.map(name, name.trim()).filter(name, name != '')`;
const settingList = (values: readonly string[]): Cel => names(listOf(values));

/** OpenShift assigns a range of user ids to each namespace. */
const OPENSHIFT_NAMESPACE = 'openshift.io/sa.scc.uid-range';

const isOpenShift: Readonly<Record<Settings['platform'], Cel>> = {
  auto: `${text(OPENSHIFT_NAMESPACE)} in ${fieldOr('namespaceObject', 'metadata.annotations', '{}')}`,
  kubernetes: 'false',
  openshift: 'true',
};

const settingsVariables = (settings: Settings): Expressions => ({
  ...injectionVariables(settings, settingList),
  sidecars: settingList(settings.injection.sidecars),
  otherTracers: text(settings.injection.otherTracers),
  endpoint: text(telemetryProxyUrl(settings)),
  ownLabel: text(labelValue(operatorVersion())),
  isOpenShift: isOpenShift[settings.platform],
});

/** The settings of the namespace's `Lumigo`. The schema has the defaults, but an older definition may lack some. */
const lumigoVariables: Expressions = {
  secretName: 'params.spec.lumigoToken.secretRef.name',
  secretKey: 'params.spec.lumigoToken.secretRef.key',
  traces: `string(${fieldOr('params', 'spec.tracing.enabled', 'true')})`,
  logs: `string(${fieldOr('params', 'spec.logging.enabled', 'false')})`,
};

const podVariables: Expressions = {
  pod: 'object.spec',
  labels: fieldOr('object', 'metadata.labels', '{}'),
  annotations: fieldOr('object', 'metadata.annotations', '{}'),
  containers: 'variables.pod.containers',
  initContainers: fieldOr('variables.pod', 'initContainers', '[]'),
  volumes: fieldOr('variables.pod', 'volumes', '[]'),
  included: names(`${entryOr('variables.annotations', annotations.injectContainers)}.split(',')`),
  excluded: names(`${entryOr('variables.annotations', annotations.excludeContainers)}.split(',')`),
  isNameTaken: any(
    `variables.volumes.exists(volume, volume.name == ${text(injector.volume)})`,
    `variables.containers.exists(container, container.name == ${text(injector.container)})`,
    `variables.initContainers.exists(container, container.name == ${text(injector.container)})`,
  ),
};

export const baseVariables = (settings: Settings): Expressions => ({
  ...settingsVariables(settings),
  ...lumigoVariables,
  ...podVariables,
});
