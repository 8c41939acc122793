import { suffixes, workloads } from '../../runtime/contract.ts';
import { imageReference } from '../constructs/image.ts';
import { telemetryProxyUrl } from '../constructs/runtime-environment.ts';
import type { Settings } from '../settings/schema.ts';
import { all, text, type Cel } from '../constructs/cel.ts';
import { environmentVariables } from './environment-rules.ts';
import { metadataValidations } from './metadata-validations.ts';
import { podValidations } from './pod-validations.ts';
import type { Policy } from './policy.ts';
import { recordValidations } from './record-validations.ts';
import { workloadVariables } from './workload-variables.ts';

/** Returns a CEL list of texts. The expression contains one text, because a chart knows a list only as a whole. */
const listOf = (values: readonly string[]): Cel => `${text(values.join(','))}.split(',')`;

/** The namespaces that the operator never changes. */
export const excludedNamespaces = ({ webhook, namespace }: Settings): Cel =>
  `${listOf(webhook.excludedNamespaces)} + [${text(namespace)}]`;

const settingsVariables = (settings: Settings): Policy['variables'] => ({
  image: text(imageReference(settings.injectorWebhook.lumigoInjector.image, settings.imagePrefix)),
  imagePullPolicy: text(settings.injection.imagePullPolicy),
  pullSecrets: listOf(settings.injection.imagePullSecrets),
  endpoint: text(telemetryProxyUrl(settings)),
  excludedNamespaces: excludedNamespaces(settings),
  isOwnDeployment: all(
    `request.resource.resource == 'deployments'`,
    `request.namespace == ${text(settings.namespace)}`,
    `request.name == ${text(`${settings.name}${suffixes.manager}`)}`,
  ),
});

const groups = [...new Set(workloads.map(({ group }) => group))];

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
  variables: { ...settingsVariables(settings), ...workloadVariables, ...environmentVariables },
  validations: [...metadataValidations, ...podValidations, ...recordValidations],
});
