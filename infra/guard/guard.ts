import { Construct } from 'constructs';
import { guardAnswer } from '../../runtime/contract.ts';
import { operatorUser } from '../constructs/access.ts';
import { addPolicy, namespaceName } from '../constructs/admission.ts';
import { labels } from '../constructs/labels.ts';
import type { Settings } from '../settings/schema.ts';
import { text } from '../constructs/cel.ts';
import { installationPolicy } from './installation-policy.ts';
import { namespacesPolicy } from './namespaces-policy.ts';
import { workloadPolicy } from './workload-policy.ts';

/** Policies in the API server that limit the manager's account to the operator's own writes (docs/contributing/adr/0035). */
export class Guard extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const policies = [workloadPolicy, installationPolicy, namespacesPolicy].map((policy) => policy(settings));
    for (const { suffix, rules, namespace, variables, validations } of policies) {
      addPolicy(this, {
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name: `${settings.name}${suffix}`, labels: labels(settings, 'guard') },
        conditions: { 'by-the-manager': `request.userInfo.username == ${text(operatorUser(settings))}` },
        variables,
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: {
            matchPolicy: 'Equivalent',
            resourceRules: rules.map((rule) => ({ ...rule, scope: '*' })),
            ...(namespace === undefined ? {} : { namespaceSelector: { matchLabels: { [namespaceName]: namespace } } }),
          },
          validations: validations.map(({ may, expression }) => ({ expression, message: `${guardAnswer} ${may}` })),
        },
        binding: { validationActions: [settings.guard] },
      });
    }
  }
}
