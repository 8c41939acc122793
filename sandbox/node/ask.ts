/**
 * Asks a service on the node once, by a connection of its own. One that is led to a pod which is just gone fails only after seconds, and is
 * never led elsewhere; whoever asks again is.
 * @param withinMs left out: two seconds, where the sample programs take a few milliseconds
 * @throws where no answer comes within that time
 */
export const ask = (url: string, withinMs = 2_000): Promise<Response> =>
  fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(withinMs) });
