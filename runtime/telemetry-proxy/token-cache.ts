/** For so long a token that was replaced in its Secret is still let in: pods that run took theirs when they started. */
const TRANSITION_MS = 60 * 60_000;

interface Entry {
  readonly token: string | undefined;
  /** Tokens that stood here before, and until when they are let in. */
  readonly former: ReadonlyMap<string, number>;
}

/** Who may send: those whose token stands in a Secret, and for a while those whose token stood there before. */
export class TokenCache {
  private entries: ReadonlyMap<string, Entry> = new Map();

  /**
   * Takes the token of each source as it is now (undefined: none of use) and gives back, sorted, those that are let in. The
   * tokens of a source that is named no more, or has none any more, are shut out at once.
   * @param now milliseconds since some moment
   */
  letIn(tokens: ReadonlyMap<string, string | undefined>, now: number): readonly string[] {
    this.entries = new Map(
      [...tokens].map(([source, token]) => [source, entryOf(token, this.entries.get(source), now)]),
    );
    const all = [...this.entries.values()].flatMap(({ token, former }) => [
      ...(token === undefined ? [] : [token]),
      ...former.keys(),
    ]);
    return [...new Set(all)].toSorted();
  }
}

function entryOf(token: string | undefined, before: Entry | undefined, now: number): Entry {
  if (token === undefined || before === undefined) return { token, former: new Map() };
  const former = [...before.former].filter(([, until]) => until > now);
  // Whoever runs with the token that was replaced goes on with it until its next restart.
  if (before.token !== undefined && before.token !== token) former.push([before.token, now + TRANSITION_MS]);
  return { token, former: new Map(former) };
}
