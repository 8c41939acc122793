import type { Command } from 'commander';
import type { Paint } from '../diagnostics/table.ts';
import type { ConnectOptions } from '../kubernetes/http/connect.ts';
import type { Stream } from './progress.ts';

/** The process around a command. */
export interface Shell {
  /** Writes a line to standard output. */
  readonly print: (text: string) => void;
  /** Writes a line to standard error: a note for a person, which is no part of the result. */
  readonly note: (text: string) => void;
  /** Writes a text to standard output that steers the terminal on purpose, with colors. */
  readonly write: (text: string) => void;
  readonly paint: Paint;
  /** True if standard output is a terminal. */
  readonly isTerminal: boolean;
  readonly environment: NodeJS.ProcessEnv;
  /** For the progress of what takes long. */
  readonly stderr: Stream;
}

/** A command with its flags and its argument. */
export interface Invocation<F = object> extends Shell {
  readonly flags: ConnectOptions & F;
  /** Empty for a command without one. */
  readonly argument: string;
  /** The whole command line. */
  readonly program: Command;
}

/** The module of a command. It is loaded when the command runs. */
export interface CommandModule {
  readonly run: (invocation: Invocation<never>) => Promise<void>;
}
