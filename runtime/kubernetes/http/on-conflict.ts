import { isConflict, isNotFound } from './errors.ts';

/** Somebody else writes the same object: it is read again so often, and then it is the caller's backoff that helps. */
const ATTEMPTS = 5;

/**
 * Changes an object by a write that holds only for what was read (`change` rejects with a Conflict otherwise), reading it
 * anew after each conflict. `seen` spares the first reading. Resolves with undefined where the object is gone.
 * @throws what `read` and `change` throw, and the fifth Conflict in a row
 */
export async function readAndChange<T, R>(
  seen: T | undefined,
  read: () => Promise<T>,
  change: (object: T) => Promise<R>,
): Promise<R | undefined> {
  let object = seen;
  for (let attempt = 1; ; attempt += 1)
    try {
      return await change(object ?? (await read()));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      object = undefined;
    }
}
