import { certificatesIn, getLifetime } from '../certificates/plan-certificates.ts';
import { lumigo as contract, managerSelector, partOfSelector, suffixes, workloadKinds } from '../contract.ts';
import { probeEchoPrefix, probeLabel, probeNamespace } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { getInstallationSource, readCredential } from '../credentials/credential.ts';
import { toConfig } from '../installation/installation.ts';
import { findLeader } from '../installation/leader.ts';
import { listAll } from '../kubernetes/http/client.ts';
import { isForbidden, isRefusal, undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { admission } from '../kubernetes/resources/kinds.ts';
import { getWebhooks, webhooksRef } from '../kubernetes/resources/webhooks.ts';
import { findPodCounts, getCompletion } from '../rollout/completion.ts';
import { describeError } from '../wording/errors.ts';
import type { CheckContext } from './check-context.ts';
import { failed, ok, unknown, type Finding, type Outcome } from './finding.ts';
import { images, lumigoes } from './namespace-checks.ts';
import { isServed } from './preview.ts';

const INSTALL = 'Install the operator, or apply its manifests again';

const checks = { definition, manager, leader, certificate, webhook, policies, nodes, images, lumigoes };

export const runChecks = (context: CheckContext): Promise<Finding[]> =>
  Promise.all(
    Object.entries(checks).map(async ([check, look]) => ({ check, ...(await look(context).catch(outcomeOfError)) })),
  );

const outcomeOfError = (error: unknown): Outcome =>
  isForbidden(error)
    ? unknown(`Your account may not check this: ${describeError(error)}`)
    : failed(describeError(error), 'Check that the API server answers, and run the command again');

async function definition({ transport }: CheckContext): Promise<Outcome> {
  const { apiVersion, plural } = contract;
  if (await isServed(transport)) return ok(`The API server serves ${plural}.${apiVersion}`);
  return failed(`The API server does not serve ${apiVersion}`, INSTALL);
}

async function manager({ installed }: CheckContext): Promise<Outcome> {
  const found = await installed();
  if (found === undefined) return failed('This Lumigo operator is not installed in this cluster', INSTALL);
  const { operatorNamespace: namespace, deployment, note } = found;
  const { name } = deployment.metadata;
  const more = note === undefined ? '' : `. ${note}`;
  const workload = deployment as unknown as Workload;
  if (getCompletion(workload).kind === 'complete')
    return ok(`All replicas of ${namespace}/${name} are available${more}`);
  const { wanted = 0, available = 0 } = findPodCounts(workload) ?? {};
  const rollout = wanted > 0 && available >= wanted ? ', and its rollout is not complete' : '';
  return failed(
    `${Math.min(available, wanted)} of ${wanted} replicas of ${namespace}/${name} are available${rollout}${more}`,
    `kubectl describe pods -n ${namespace} -l app.kubernetes.io/component=controller-manager`,
  );
}

/** The DaemonSet exists only if the settings ask for data of nodes. */
async function nodes({ client, installed }: CheckContext): Promise<Outcome> {
  const found = await installed();
  if (found === undefined) return unknown('No operator is installed');
  const { operatorNamespace: namespace, operatorName } = found;
  const { daemonSet: kind } = workloadKinds;
  const daemonSet = await client.find({ ...kind, namespace, name: `${operatorName}${suffixes.nodeCollector}` });
  if (daemonSet === undefined) return ok('No data of nodes is collected (setting clusterCollection)');
  const { wanted = 0, available = 0 } = findPodCounts(daemonSet as Workload) ?? {};
  const counts = `The collectors of ${available} of ${wanted} nodes are available`;
  if (available !== wanted)
    return failed(counts, `kubectl describe pods -n ${namespace} -l app.kubernetes.io/component=node-collector`);
  const config = toConfig(found.deployment);
  const problem = config.nodeMetrics && (await readCredential(client, getInstallationSource(config))).problem;
  if (!problem || ['SecretForbidden', 'SecretUnreadable'].includes(problem.reason)) return ok(counts);
  return failed(`${problem.message}. No metrics are sent`, 'Set lumigoToken, see docs/use/infrastructure.md');
}

async function leader({ client, installed }: CheckContext): Promise<Outcome> {
  const found = await installed();
  if (found === undefined) return unknown('No operator is installed');
  const holder = await findLeader(client, found);
  if (holder !== undefined) return ok(`${holder} leads`);
  return failed(
    'No replica of the operator leads',
    `kubectl logs -n ${found.operatorNamespace} -l ${managerSelector} -c manager --prefix --tail=-1`,
  );
}

/** The operator, cert-manager and Helm renew much earlier. */
const SOON_MS = 7 * 24 * 3_600_000;

/** One of the authorities must be valid for some time. */
async function certificate({ client, installed }: CheckContext): Promise<Outcome> {
  const found = await installed();
  if (found === undefined) return unknown('No operator is installed');
  const configuration = await client.find(webhooksRef(found));
  if (configuration === undefined) return failed('The webhook configuration does not exist', INSTALL);
  const todo = 'See docs/operate/certificates.md';
  const bundle = Buffer.from(getWebhooks(configuration)[0]?.clientConfig.caBundle ?? '', 'base64').toString();
  const readable = certificatesIn(bundle);
  if (readable.length === 0) return failed('The webhook configuration trusts no certificate (caBundle)', todo);
  const ends = Math.max(...readable.map((pem) => getLifetime(pem).notAfter));
  const until = `The trust in the webhook's certificate ends on ${new Date(ends).toISOString().slice(0, 10)}`;
  return ends - Date.now() < SOON_MS ? failed(until, todo) : ok(until);
}

/** Makes a dry run. Only the webhook's mark shows that it was called. */
async function webhook({ client, namespace = probeNamespace }: CheckContext): Promise<Outcome> {
  const probe = `check-${Date.now()}`;
  const metadata = { name: 'lumigo-check', namespace, labels: { [probeLabel]: probe } };
  const spec = { lumigoToken: { secretRef: { name: 'lumigo-check', key: 'token' } } };
  const body = { apiVersion: contract.apiVersion, kind: contract.kind, metadata, spec };
  try {
    const { warnings } = await client.create({ ...contract, namespace }, body, { dryRun: true });
    if (warnings.some((text) => text.includes(probeEchoPrefix + probe)))
      return ok(`The API server reaches the injector webhook (dry run in '${namespace}')`);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const why = describeError(error);
    // Otherwise rights, a quota or a policy of another program refused the dry run.
    return why.includes('failed calling webhook') ? failed(why, 'See docs/operate/troubleshooting.md') : unknown(why);
  }
  return failed(
    'The API server does not reach the injector webhook. New workloads are instrumented later, and restart once',
    'See docs/operate/troubleshooting.md, "New workloads restart once"',
  );
}

interface Policy {
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly policyName?: string };
  readonly status?: { readonly typeChecking?: { readonly expressionWarnings?: readonly unknown[] } };
}

/** Each policy needs a binding. Older versions of Kubernetes have no mutating policies. */
async function policies({ client, installed }: CheckContext): Promise<Outcome> {
  const found = await installed();
  if (found === undefined) return unknown('No operator is installed');
  const list = async (plural: string): Promise<readonly Policy[]> => {
    const refs = ['validating', 'mutating'].map((type) => ({ ...admission, plural: `${type}admission${plural}` }));
    const found = refs.map((ref) => listAll(client, ref, { labelSelector: partOfSelector }).catch(undefinedIfNotFound));
    return (await Promise.all(found)).flatMap((each) => each ?? []) as unknown as readonly Policy[];
  };
  const all = await list('policies');
  const bound = new Set((await list('policybindings')).map(({ spec }) => spec?.policyName));
  const wrong = all.filter(
    ({ metadata, status }) => !bound.has(metadata.name) || status?.typeChecking?.expressionWarnings !== undefined,
  );
  if (wrong.length > 0)
    return failed(`Not bound, or not valid: ${wrong.map(({ metadata }) => metadata.name).join(', ')}`, INSTALL);
  return ok(all.length === 0 ? 'None is installed (setting guard)' : `${all.length} are bound`);
}
