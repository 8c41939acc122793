/** Returns the result of an action. If the action fails, it stops what was started before. */
export async function stopOnError<T>(started: { stop(): Promise<unknown> }, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    await started.stop();
    throw error;
  }
}
