/** A reason for a Lumigo not to act: CamelCase for programs, a sentence for people. */
export interface Problem {
  readonly reason: string;
  readonly message: string;
}
