/** Acts on up to `number` items at the same time, and reads pages as needed. Rejects with the first rejection. */
export async function forEachConcurrent<T>(
  number: number,
  each: Iterable<T> | AsyncIterable<T>,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const items = (async function* () {
    yield* each;
  })();
  const work = async (): Promise<void> => {
    for (let next = await items.next(); next.done !== true; next = await items.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: number }, work));
}
