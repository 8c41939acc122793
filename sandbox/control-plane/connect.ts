import { createTransport, type Transport, type TransportOptions } from '../../runtime/kubernetes/http/transport.ts';

interface Connection extends Partial<TransportOptions> {
  /** The impersonated user. Default: the owner of the token. */
  readonly as?: string;
}

/** Opens connections, which must be closed. Default: the administrator's token. */
export function connectTo(
  { server, ca, token }: { readonly server: string; readonly ca: string; readonly token: string },
  { as, ...options }: Connection = {},
): Transport {
  const authorization = () => Promise.resolve(`Bearer ${token}`);
  const headers = as === undefined ? {} : { headers: { 'Impersonate-User': as } };
  return createTransport(
    { server: new URL(server), ca: () => ca, authorization, ...headers },
    { userAgent: 'test', ...options },
  );
}
