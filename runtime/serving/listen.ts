import type { Server } from 'node:net';

export interface Where {
  readonly port: number;
  /** Left out, or empty: all addresses. */
  readonly host?: string | undefined;
}

/** The error is a sentence for the user, with the purpose, e.g. `the webhook`. */
export function listen(server: Server, { port, host }: Where, purpose: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program uses this port; choose another port' : error.message;
      reject(new Error(`cannot listen for ${purpose} on port ${port}: ${why}`, { cause: error }));
    });
    server.listen({ port, host }, resolve);
  });
}
