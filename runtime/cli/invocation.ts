import type { ConnectOptions } from '../kubernetes/http/connect.ts';

/** The process around a command. */
export interface Shell {
  /** Writes a line to standard output. */
  readonly print: (text: string) => void;
  /** Writes a line to standard error: a note for a person, which is no part of the result. */
  readonly note: (text: string) => void;
  readonly environment: NodeJS.ProcessEnv;
}

/** A command with its flags and its argument. */
export interface Invocation<F = object> extends Shell {
  readonly flags: ConnectOptions & F;
  /** Empty for a command without one. */
  readonly argument: string;
}

/** The module of a command. It is loaded when the command runs. */
export interface CommandModule {
  readonly run: (invocation: Invocation<never>) => Promise<void>;
}
