import { once, setMaxListeners } from 'node:events';

export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Waits for an event that may never happen, until the signal is aborted. */
export const unlessAborted = (event: Promise<void>, signal: AbortSignal): Promise<void> =>
  Promise.race([event, aborted(signal)]);

/** Returns a controller whose signal any number of requests and watches can listen to. */
export function listenable(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
