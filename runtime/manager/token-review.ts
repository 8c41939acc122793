import type * as api from '@kubernetes/client-node';
import { paths } from '../contract.ts';
import type { Sparse } from '../injection/types.ts';
import { resourcePath } from '../kubernetes/http/paths.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { printable } from '../wording/printable.ts';
import type { Verdict } from './scrape-access.ts';

/** Prometheus itself waits for 10 seconds. */
const PATIENCE_MS = 4_000;

/**
 * Asks the API server whose a token is, and whether he may get `/metrics`: what Kubernetes' own components ask before they show
 * theirs. Rejects where there is no answer.
 */
export const tokenReviewer =
  (transport: Transport) =>
  async (token: string): Promise<Verdict> => {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const ask = async (group: string, plural: string, kind: string, spec: object): Promise<unknown> => {
      const path = resourcePath({ group, version: 'v1', plural });
      const asked = { apiVersion: `${group}/v1`, kind, spec };
      // Nothing is stored, so it may be sent again.
      const { body } = await transport.request({ method: 'POST', path, body: asked, repeatable: true, signal });
      return (body as { readonly status?: unknown }).status ?? {};
    };
    const spec = { token };
    const review = await ask('authentication.k8s.io', 'tokenreviews', 'TokenReview', spec);
    const { authenticated, user = {} } = review as Sparse<api.V1TokenReviewStatus>;
    if (authenticated !== true) return unknown;
    const { username = '', uid, groups, extra } = user;
    const access = await ask('authorization.k8s.io', 'subjectaccessreviews', 'SubjectAccessReview', {
      ...{ user: username, uid, groups, extra },
      nonResourceAttributes: { path: paths.metrics, verb: 'get' },
    });
    return (access as Sparse<api.V1SubjectAccessReviewStatus>).allowed === true ? undefined : forbidden(username);
  };

const unknown: Verdict = {
  status: 401,
  message:
    'the API server does not know this token; it may have ended, or be for another cluster or audience: send a current one',
};

const forbidden = (username: string): Verdict => ({
  status: 403,
  message: `'${printable(username)}' may not read metrics; bind it to a ClusterRole with {nonResourceURLs: [${paths.metrics}], verbs: [get]}`,
});
