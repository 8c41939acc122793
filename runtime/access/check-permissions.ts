import { suffixes } from '../contract.ts';
import { needed, rule, type PolicyRule } from './permissions.ts';

const admission = 'admissionregistration.k8s.io';
const policies =
  'validatingadmissionpolicies validatingadmissionpolicybindings mutatingadmissionpolicies mutatingadmissionpolicybindings';
const allowed = (why: string, granted: PolicyRule) => needed(why, 'diagnostics/diagnostics', granted);

/** The rights of `helm test`, which exist while it runs. */
export const checkPermissions = {
  check: [
    allowed('to see if all replicas are available', rule('apps', 'deployments', 'get', `NAME${suffixes.manager}`)),
    allowed(
      'to see if the collectors of the nodes are available',
      rule('apps', 'daemonsets', 'get', `NAME${suffixes.nodeCollector}`),
    ),
    allowed('to see if one of them leads', rule('coordination.k8s.io', 'leases', 'get', `NAME${suffixes.lease}`)),
    allowed(
      "to see until when the webhook's certificate is trusted",
      rule(admission, 'mutatingwebhookconfigurations', 'get', `NAME${suffixes.injectorWebhook}`),
    ),
    allowed('to see if the policies are bound and valid', rule(admission, policies, 'list')),
    allowed('to see if they are ready', rule('operator.lumigo.io', 'lumigoes', 'list')),
  ],
  checkProbe: [allowed('to probe the webhook by a dry run', rule('operator.lumigo.io', 'lumigoes', 'create'))],
};
