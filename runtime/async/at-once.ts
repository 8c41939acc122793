/** Acts on each, so many at a time; what comes page by page is read as it is needed. The first rejection is passed on. */
export async function atOnce<T>(
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
