import { createTransport, type Transport, type TransportOptions } from '../../runtime/kubernetes/http/transport.ts';

/** Opens connections, which must be closed. @param as the impersonated user. Default: the owner of the token */
export function connectTo(
  { server, ca, token }: Readonly<Record<'server' | 'ca' | 'token', string>>,
  { as, ...options }: Partial<TransportOptions> & { readonly as?: string } = {},
): Transport {
  const authorization = () => Promise.resolve(`Bearer ${token}`);
  const headers = as === undefined ? {} : { headers: { 'Impersonate-User': as } };
  return createTransport(
    { server: new URL(server), ca: () => ca, authorization, ...headers },
    { userAgent: 'test', ...options },
  );
}
