/**
 * Asks a service on the node once, by a connection of its own. For up to a second after a pod is gone the node leads connections to it; they
 * get no answer and are never led elsewhere, but whoever asks again is.
 * @param withinMs left out: two seconds, where the sample programs take a few milliseconds
 * @throws where no answer comes within that time
 */
export const ask = (url: string, withinMs = 2_000): Promise<Response> =>
  fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(withinMs) });
