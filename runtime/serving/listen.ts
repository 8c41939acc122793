import type { Server } from 'node:net';

export interface Where {
  /** 0: any free port. */
  readonly port: number;
  /** Left out, or empty: all addresses. */
  readonly host?: string | undefined;
}

/** Resolves with the port. The error is a sentence for the user, with the purpose, e.g. `the webhook`. */
export function listen(server: Server, { port, host }: Where, purpose: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program uses this port; choose another port' : error.message;
      reject(new Error(`cannot listen for ${purpose} on port ${port}: ${why}`, { cause: error }));
    });
    server.listen({ port, ...(host === undefined || host === '' ? {} : { host }) }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
