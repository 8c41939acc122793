import { once } from 'node:events';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { issueAuthority, issueServing } from '../../runtime/certificates/issue.ts';
import type { Container, Workload } from '../../runtime/injection/types.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { freePorts } from '../control-plane/processes.ts';
import { eventually } from '../testing/eventually.ts';
import { workloadOf } from '../testing/workloads.ts';
import { workloads } from '../../runtime/contract.ts';

const [deployment] = workloads;
export const sidecar = 'sidecar';

/**
 * Somebody else's mutating webhook, in force for one namespace: it adds a container to every Deployment and puts all of them
 * in an order of its own. Resolves once the API server calls it; gives back how to end it.
 */
export async function startOtherWebhook(client: Client, namespace: string, name: string): Promise<() => Promise<void>> {
  const validity = { now: new Date(), days: 1 };
  const authority = await issueAuthority('somebody-else', validity);
  const { certificate, key } = await issueServing(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] }, validity);
  const [port = 0] = await freePorts(1);
  const server = createServer({ cert: certificate, key }, (request, response) => {
    void json(request).then((review) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer(review as Review)));
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  await client.create(kinds.webhooks, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'somebody-else.example.com',
        clientConfig: {
          url: `https://127.0.0.1:${port}/`,
          caBundle: Buffer.from(authority.certificate).toString('base64'),
        },
        rules: [
          { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['deployments'] },
        ],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: 'IfNeeded',
      },
    ],
  });
  await eventually(async () => {
    const probe = workloadOf(deployment, namespace, 'probe');
    const { object } = await client.create({ ...deployment, namespace }, probe, { dryRun: true });
    if (!JSON.stringify(object).includes(sidecar)) throw new Error('the other webhook is not called yet');
  });
  return async () => {
    await client.delete({ ...kinds.webhooks, name });
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
}

interface Review {
  readonly request: { readonly uid: string; readonly object: Workload };
}

function answer({ request: { uid, object } }: Review) {
  const containers = templateOf(object)?.spec.containers ?? [];
  const wanted = arranged(containers);
  const response = { uid, allowed: true };
  const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
  if (JSON.stringify(wanted) === JSON.stringify(containers)) return { ...review, response };
  const operations = [{ op: 'replace', path: '/spec/template/spec/containers', value: wanted }];
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { ...review, response: { ...response, patchType: 'JSONPatch', patch } };
}

/** The sidecar is there, and the names are in descending order. */
function arranged(containers: readonly Container[]): readonly Container[] {
  const isThere = containers.some(({ name }) => name === sidecar);
  const all = isThere ? containers : [...containers, { name: sidecar, image: 'sidecar:1' }];
  return all.toSorted((a, b) => (a.name < b.name ? 1 : -1));
}
