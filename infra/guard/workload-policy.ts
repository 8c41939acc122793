import { annotations, injector, labels, probeLabel, suffixes, workloads } from '../../runtime/contract.ts';
import { injectorVolume } from '../../runtime/injection/init-container.ts';
import { imageReference } from '../constructs/image.ts';
import { telemetryProxyUrl } from '../constructs/runtime-environment.ts';
import type { Settings } from '../settings/schema.ts';
import { all, any, fieldOr, sameExcept, sameItemsBut, text, texts, type Cel } from './cel.ts';
import { isOurKey, sameMap, sameMetadata } from './metadata-rules.ts';
import { appMounts, eachPair, initMounts, injectorShape, sameContainers } from './container-rules.ts';
import { environmentVariables, otherEntries, sameEnvironment } from './environment-rules.ts';
import type { Policy, Validation } from './policy.ts';
import { recordValidations } from './record-validations.ts';
import { hasShape, type Shape } from './shape.ts';
import { workloadVariables } from './workload-variables.ts';

/** Kubernetes itself changes this annotation of a DaemonSet with each change of its pod template. */
const DAEMON_SET_GENERATION = 'deprecated.daemonset.template.generation';
/** By this annotation the manager replaces its own pods, after it restored its account. */
const RESTARTED_AT = 'kubectl.kubernetes.io/restartedAt';

const named = (name: string) => (item: Cel) => `(${item}.name == ${text(name)})`;
const isInjector = named(injector.container);
const isOurVolume = named(injector.volume);
/** The objects around the pod template, from the outermost: they differ in the next one only. */
function around(): readonly Cel[] {
  const same = (path: readonly string[], keys: readonly string[]) => {
    const suffix = path.map((step) => `.${step}`).join('');
    return sameExcept(`variables.object${suffix}`, `variables.objectBefore${suffix}`, keys);
  };
  const inSpec = [...new Set(workloads.flatMap(({ template }) => template.slice(1, 2)))];
  const deeper = workloads.flatMap(({ kind, template }) =>
    template
      .slice(2)
      .map((key, index) => any(`request.kind.kind != ${text(kind)}`, same(template.slice(0, index + 2), [key]))),
  );
  return [same([], ['metadata', 'spec']), same(['spec'], inSpec), ...deeper];
}

const [inits, initsBefore] = ['variables.usersInitContainers', 'variables.usersInitContainersBefore'];
const containers = ['variables.containers', 'variables.containersBefore'] as const;

const metadata: Cel = sameMetadata('variables.object', 'variables.objectBefore', {
  labels: (key) => `(${key} in ${texts([labels.autoTrace, labels.rollout, probeLabel])})`,
  annotations: (key) => any(isOurKey(key), `${key} == ${text(DAEMON_SET_GENERATION)}`),
});

const isRestart = (key: Cel): Cel => `(variables.isOwnDeployment && ${key} == ${text(RESTARTED_AT)})`;

/** The autoscaler's list, of which our entry is one. */
const safeToEvict = (template: string): Cel =>
  otherEntries(
    `variables.${template}.?metadata.?annotations[?${text(annotations.safeToEvict)}].orValue('')`,
    injector.volume,
  );

const templateMetadata: readonly Cel[] = [
  sameExcept('variables.template.?metadata.orValue({})', 'variables.templateBefore.?metadata.orValue({})', [
    'labels',
    'annotations',
  ]),
  sameMap(
    'variables.template',
    'variables.templateBefore',
    'metadata.labels',
    (key) => `(${key} == ${text(labels.autoTrace)})`,
  ),
  sameMap('variables.template', 'variables.templateBefore', 'metadata.annotations', (key) =>
    any(isOurKey(key), `${key} == ${text(annotations.safeToEvict)}`, isRestart(key)),
  ),
  `${safeToEvict('template')} == ${safeToEvict('templateBefore')}`,
];

const pod = ['containers', 'initContainers', 'volumes', 'imagePullSecrets'];
const listOf = (field: string): readonly [Cel, Cel] => [
  fieldOr('variables.pod', field, '[]'),
  fieldOr('variables.podBefore', field, '[]'),
];
const [volumes, volumesBefore] = listOf('volumes');
const [pullSecrets, pullSecretsBefore] = listOf('imagePullSecrets');
const nameOf = (item: Cel): Cel => `${item}.?name.orValue('')`;
const isAddedSecret = (item: Cel): Cel =>
  `(${nameOf(item)} in variables.pullSecrets || ${nameOf(item)} in variables.recordedPullSecretsBefore)`;

const may = (what: string): string =>
  `The guard of the Lumigo operator lets it change ${what}. See docs/security/README.md#the-guard`;

const validations: readonly Validation[] = [
  {
    message: may('the pod template of a workload, and no other field of its spec'),
    expression: all(...around()),
  },
  { message: may("only its own labels and annotations of a workload's metadata"), expression: metadata },
  { message: may('only its own labels and annotations of a pod template'), expression: all(...templateMetadata) },
  {
    message: may('containers, volumes and pull secrets of a pod template, and no other field of its spec'),
    expression: all(
      sameExcept('variables.template', 'variables.templateBefore', ['metadata', 'spec']),
      sameExcept('variables.pod', 'variables.podBefore', pod),
    ),
  },
  {
    message: may('only environment and mounts of a container'),
    expression: all(...sameContainers(...containers, ['env', 'volumeMounts'])),
  },
  {
    message: may('only the injected variables of a container'),
    expression: eachPair(...containers, all(...sameEnvironment('container', 'before'))),
  },
  {
    message: may('only its own mount of a container'),
    expression: eachPair(...containers, all(...appMounts('container', 'before'))),
  },
  {
    message: may('only its own init container'),
    expression: all(
      ...sameContainers(inits, initsBefore, ['volumeMounts']),
      eachPair(inits, initsBefore, all(...initMounts('container', 'before'))),
    ),
  },
  {
    message: may("its init container to the injector's image of the settings and to no other command"),
    expression: `variables.initContainers.filter(container, ${isInjector('container')}).all(container, ${any(
      'container in variables.initContainersBefore',
      hasShape('container', injectorShape()),
    )})`,
  },
  {
    message: may('only its own volume'),
    expression: all(
      sameItemsBut(volumes, volumesBefore, isOurVolume),
      `${volumes}.filter(volume, ${isOurVolume('volume')}).all(volume, ${any(
        `volume in ${volumesBefore}`,
        hasShape('volume', injectorVolume as unknown as Shape),
      )})`,
    ),
  },
  {
    message: may('only the pull secrets of the settings'),
    expression: all(
      sameItemsBut(pullSecrets, pullSecretsBefore, isAddedSecret),
      `${pullSecrets}.all(secret, secret in ${pullSecretsBefore} || ${nameOf('secret')} in variables.pullSecrets)`,
    ),
  },
  ...recordValidations(may),
  {
    message: may('no workload of an excluded namespace, except to remove an injection'),
    expression: any(
      '!(request.namespace in variables.excludedNamespaces)',
      `variables.initContainers.all(container, !${isInjector('container')} || container in variables.initContainersBefore)`,
    ),
  },
];

const groups = [...new Set(workloads.map(({ group }) => group))];

/** The namespaces that the operator never changes. They are one text, because a chart knows the list only as a whole. */
export const excludedNamespaces = ({ webhook, namespace }: Settings): Cel =>
  `${text(webhook.excludedNamespaces.join(','))}.split(',') + [${text(namespace)}]`;

/** The policy about workloads: the manager adds and removes the injection, and changes nothing else. */
export const workloadPolicy = (settings: Settings): Policy => ({
  suffix: suffixes.guardWorkloads,
  rules: groups.map((group) => {
    const kinds = workloads.filter((workload) => workload.group === group);
    return {
      apiGroups: [group],
      apiVersions: [...new Set(kinds.map(({ version }) => version))],
      resources: kinds.map(({ plural }) => plural),
      operations: ['UPDATE'],
    };
  }),
  variables: {
    image: text(imageReference(settings.injectorWebhook.lumigoInjector.image, settings.imagePrefix)),
    imagePullPolicy: text(settings.injection.imagePullPolicy),
    pullSecrets: `${text(settings.injection.imagePullSecrets.join(','))}.split(',')`,
    excludedNamespaces: excludedNamespaces(settings),
    isOwnDeployment: all(
      `request.resource.resource == 'deployments'`,
      `request.namespace == ${text(settings.namespace)}`,
      `request.name == ${text(`${settings.name}${suffixes.manager}`)}`,
    ),
    ...workloadVariables,
    ...environmentVariables(telemetryProxyUrl(settings)),
  },
  validations,
});
