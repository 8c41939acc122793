import { once } from 'node:events';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import { issueAuthority, issueServing } from '../../runtime/certificates/issue.ts';
import type { PatchOperation, Workload } from '../../runtime/api/objects.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import type { Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { freePorts } from '../control-plane/processes.ts';
import { getCollection } from '../manager/apply.ts';
import { eventually } from './eventually.ts';

interface WebhookOptions {
  readonly client: Client;
  readonly name: string;
  readonly rule: { readonly apiGroups: string[]; readonly resources: string[]; readonly operations: string[] };
  readonly address?: string;
  /** Returns a patch, or the code of a denial. */
  readonly mutate: (object: Workload) => readonly PatchOperation[] | number;
  /** The webhook is for its namespace. Dry runs of its creation show that the API server calls the webhook. */
  readonly probe: Manifest;
}

/** Starts another team's mutating webhook. Resolves, once the API server calls it, with the function that ends it. */
export async function startMutatingWebhook(options: WebhookOptions): Promise<() => Promise<void>> {
  const { client, name, rule, address = '127.0.0.1', mutate, probe } = options;
  const validity = { now: new Date(), days: 1 };
  const authority = await issueAuthority('another-team', validity);
  const { certificate, key } = await issueServing(authority, [address], validity);
  const caBundle = Buffer.from(authority.certificate).toString('base64');
  const [port = 0] = await freePorts(1);
  let calls = 0;
  const server = createServer({ cert: certificate, key }, (request, response) => {
    calls += 1;
    void json(request).then((review) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer(review as Review, mutate)));
    });
  });
  server.listen(port, address);
  await once(server, 'listening');
  await client.create(kinds.webhooks, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: 'another-team.example.com',
        clientConfig: { url: `https://${address}:${port}/`, caBundle },
        rules: [{ ...rule, apiVersions: ['v1'] }],
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': probe.metadata.namespace } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: 'IfNeeded',
      },
    ],
  });
  await eventually(async () => {
    await client.create(getCollection(probe), probe, { dryRun: true });
    if (calls === 0) throw new Error(`the webhook ${name} is not called yet`);
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

function answer({ request: { uid, object } }: Review, mutate: WebhookOptions['mutate']) {
  const outcome = mutate(object);
  const response = typeof outcome === 'number' ? { allowed: false, status: { code: outcome } } : toPatch(outcome);
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, ...response } };
}

function toPatch(operations: readonly PatchOperation[]) {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { allowed: true, ...(operations.length === 0 ? {} : { patchType: 'JSONPatch', patch }) };
}
