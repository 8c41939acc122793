import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { lumigo, suffixes } from '../../runtime/contract.ts';
import { rule, type PolicyRule } from '../../runtime/access/permissions.ts';
import { labels, type Installation } from './labels.ts';
import { policyRules } from './rights.ts';

interface UserRole {
  readonly suffix: string;
  readonly aggregatedTo: readonly ('admin' | 'edit' | 'view')[];
  readonly rules: readonly PolicyRule[];
}

const reading = 'get list watch';
const status = rule(lumigo.group, `${lumigo.plural}/status`, 'get');

/** The rights of users on `Lumigo` resources. Only the operator writes the status. No role includes Secrets. */
export const userRoles: readonly UserRole[] = [
  {
    suffix: suffixes.editorRole,
    aggregatedTo: ['admin', 'edit'],
    rules: [rule(lumigo.group, lumigo.plural, `${reading} create update patch delete deletecollection`), status],
  },
  {
    suffix: suffixes.viewerRole,
    aggregatedTo: ['view'],
    rules: [rule(lumigo.group, lumigo.plural, reading), status],
  },
];

/** The labels aggregate these rules into the roles `admin`, `edit` and `view`, so no binding is needed. */
export class UserRoles extends Construct {
  constructor(scope: Construct, id: string, props: Installation) {
    super(scope, id);
    for (const { suffix, aggregatedTo, rules } of userRoles) {
      const aggregation = Object.fromEntries(
        aggregatedTo.map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`, 'true']),
      );
      new k8s.KubeClusterRole(this, aggregatedTo.join('-'), {
        metadata: { name: `${props.name}${suffix}`, labels: { ...labels(props, 'rbac'), ...aggregation } },
        rules: policyRules(rules, props),
      });
    }
  }
}
