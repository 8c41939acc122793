import { suffixes } from '../../runtime/contract.ts';
import { workloadRules } from '../constructs/admission.ts';
import { all, listOf, text, type Cel } from '../constructs/cel.ts';
import { injectionVariables } from '../constructs/injected.ts';
import { telemetryProxyUrl } from '../constructs/runtime-environment.ts';
import type { Settings } from '../settings/schema.ts';
import { injectedNames } from './environment-rules.ts';
import { metadataValidations } from './metadata-validations.ts';
import { podValidations } from './pod-validations.ts';
import type { Policy } from './policy.ts';
import { recordValidation } from './record-validation.ts';
import { workloadVariables } from './workload-variables.ts';

export const excludedNamespaces = ({ webhook, namespace }: Settings): Cel =>
  `${listOf(webhook.excludedNamespaces)} + [${text(namespace)}]`;

export const workloadPolicy = (settings: Settings): Policy => ({
  suffix: suffixes.guardWorkloads,
  rules: workloadRules(['UPDATE']),
  variables: {
    ...injectionVariables(settings, listOf),
    endpoint: text(telemetryProxyUrl(settings)),
    excludedNamespaces: excludedNamespaces(settings),
    isOwnDeployment: all(
      `request.resource.resource == 'deployments'`,
      `request.namespace == ${text(settings.namespace)}`,
      `request.name == ${text(`${settings.name}${suffixes.manager}`)}`,
    ),
    ...workloadVariables,
    injectedNames,
  },
  validations: [...metadataValidations, ...podValidations, recordValidation],
});
