import type { Server } from 'node:net';

export interface Where {
  /** 0: any free one. */
  readonly port: number;
  /** Left out, or empty: every address of the machine. */
  readonly host?: string | undefined;
}

/**
 * Binds a server, and resolves with its port. @param purpose for the message of an error: `the webhook`
 * @throws Error with a sentence when the port cannot be had
 */
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
