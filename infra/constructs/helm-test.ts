import { ApiObject } from 'cdk8s';
import { Construct } from 'constructs';
import { probeNamespace, suffixes } from '../../runtime/contract.ts';
import { checkPermissions } from '../../runtime/access/check-permissions.ts';
import type { PolicyRule } from '../../runtime/access/permissions.ts';
import type { Settings } from '../settings/schema.ts';
import { helmJobSpec } from './helm-job.ts';
import { labels, optOut } from './labels.ts';
import { policyRules } from './policy-rules.ts';

const component = 'check';
/** `helm test` waits for 300 s. The Job ends earlier, so its log has the result. */
const WAIT_SECONDS = 120;
const JOB_DEADLINE_SECONDS = 240;
const rbac = 'rbac.authorization.k8s.io';

/** `helm test`: a Job that runs `lumigo check`. Its account and rights exist only during the test. */
export class HelmTest extends Construct {
  constructor(scope: Construct, id: string, settings: Settings) {
    super(scope, id);
    const { namespace } = settings;
    const name = `${settings.name}${suffixes.check}`;
    const all = { ...labels(settings, component), ...optOut };
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    const withName = (each: string) => each.replace('NAME', settings.name);
    const grant = (scopeKind: '' | 'Cluster', within: object, rules: readonly PolicyRule[]) => {
      const kind = `${scopeKind}Role`;
      const metadata = { name, labels: all, annotations: hook(-1), ...within };
      const roleRef = { apiGroup: rbac, kind, name };
      new ApiObject(this, kind, { ...ofKind(rbac, kind), metadata, rules: policyRules(rules, withName) });
      new ApiObject(this, `${kind}Binding`, { ...ofKind(rbac, `${kind}Binding`), metadata, roleRef, subjects });
    };

    new ApiObject(this, 'account', {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      automountServiceAccountToken: false,
      metadata: { name, namespace, labels: all, annotations: hook(-1) },
    });
    grant('Cluster', {}, checkPermissions.check);
    grant('', { namespace: probeNamespace }, checkPermissions.checkProbe);
    new ApiObject(this, component, {
      ...ofKind('batch', 'Job'),
      metadata: { name, namespace, labels: all, annotations: { ...hook(0), ...withLog } },
      spec: helmJobSpec(settings, {
        component,
        labels: all,
        deadlineSeconds: JOB_DEADLINE_SECONDS,
        args: [component, '--wait', String(WAIT_SECONDS)],
        pod: { serviceAccountName: name },
      }),
    });
  }
}

const ofKind = (group: string, kind: string) => ({ apiVersion: `${group}/v1`, kind });

/** The flag `--logs` works for pods only. */
const withLog = { 'helm.sh/hook-output-log-policy': 'hook-succeeded,hook-failed' };

/** Lower weights are created first. A failed Job stays, so that its log can be read. */
const hook = (weight: number) => ({
  'helm.sh/hook': 'test',
  'helm.sh/hook-weight': String(weight),
  'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
});
