/** A connection to a pod that was just deleted fails after seconds, but a new one reaches another pod. @throws Error after `withinMs` */
export const ask = (url: string, withinMs = 2_000): Promise<Response> =>
  fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(withinMs) });
