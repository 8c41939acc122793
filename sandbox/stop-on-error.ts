/** Returns the result of an action. If the action fails, it ends what was started before. */
export async function stopOnError<T>(stop: () => Promise<unknown>, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    await stop();
    throw error;
  }
}
