import type { RequestListener } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { printable } from '../wording/printable.ts';

/** What a connection was opened with. */
interface Shown {
  /** Whether the certificate is of a trusted authority, for clients, and of today. */
  readonly authorized: boolean;
  /** Why it is not, e.g. `CERT_HAS_EXPIRED`; undefined where there is none at all. */
  readonly problem: string | undefined;
  /** Its common names. */
  readonly names: readonly string[];
}

interface Refusal {
  readonly status: 401 | 403;
  readonly reason: 'Unauthorized' | 'Forbidden';
  readonly message: string;
}

const advice =
  "the API server's AdmissionConfiguration has to name a kubeconfig with one for this webhook (docs/security/README.md, webhook.clientCa)";

/** Why whoever shows this is not answered; undefined when he is. @param allowed common names; empty: any */
export function refusalOf({ authorized, problem, names }: Shown, allowed: readonly string[]): Refusal | undefined {
  if (!authorized) {
    // A client that is told of authorities shows no certificate of another one.
    const found =
      problem === undefined ? 'none of the authority in webhook.clientCa is shown' : `this one is ${problem}`;
    return {
      status: 401,
      reason: 'Unauthorized',
      message: `the webhook asks for a client certificate, and ${found}: ${advice}`,
    };
  }
  if (allowed.length === 0 || names.some((name) => allowed.includes(name))) return undefined;
  const shown = printable(names.join(', '));
  const message = `the client certificate is for '${shown}', which webhook.clientCa.names does not name: ${advice}`;
  return { status: 403, reason: 'Forbidden', message };
}

/** Refuses before a byte of the body is looked at, in the form that an API server reads; its log then says why. */
export const forClients =
  (allowed: readonly string[], app: RequestListener): RequestListener =>
  (request, response) => {
    const refusal = refusalOf(shownOn(request.socket as TLSSocket), allowed);
    if (refusal === undefined) return app(request, response);
    const { status: code, reason, message } = refusal;
    const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message };
    response.writeHead(code, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(status));
  };

function shownOn(socket: TLSSocket): Shown {
  const { subject } = socket.getPeerCertificate() as { readonly subject?: { readonly CN?: string | string[] } };
  const problem = subject === undefined ? undefined : String(socket.authorizationError);
  return { authorized: socket.authorized, problem, names: [subject?.CN ?? []].flat() };
}
