import { createTransport, type Transport, type TransportOptions } from '../../runtime/kubernetes/http/transport.ts';

interface Connection extends Partial<TransportOptions> {
  /** The user in whose name the requests are made. Default: the owner of the token. */
  readonly as?: string;
}

/** Opens connections to a control plane with a token, which is its administrator's unless another is given. They must be closed. */
export function connectTo(
  { server, ca, token }: { readonly server: string; readonly ca: string; readonly token: string },
  { as, ...options }: Connection = {},
): Transport {
  const authorization = () => Promise.resolve(`Bearer ${token}`);
  const headers = as === undefined ? {} : { headers: { 'Impersonate-User': as } };
  return createTransport({ server: new URL(server), ca, authorization, ...headers }, { userAgent: 'test', ...options });
}
