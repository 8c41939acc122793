import type { Command } from 'commander';
import type { Paint } from '../diagnostics/table.ts';
import type { ConnectOptions } from '../kubernetes/http/connect.ts';

export interface Shell {
  readonly print: (text: string) => void;
  /** Writes a note for a person, which is not part of the result, to standard error. */
  readonly note: (text: string) => void;
  /** Writes text that may control the terminal, for example with colors. */
  readonly write: (text: string) => void;
  readonly paint: Paint;
  readonly isTerminal: boolean;
  readonly environment: NodeJS.ProcessEnv;
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
}

export interface Invocation<F = object> extends Shell {
  readonly flags: ConnectOptions & F;
  /** A command without an argument has an empty text. */
  readonly argument: string;
  readonly program: Command;
}

export interface CommandModule {
  readonly run: (invocation: Invocation<never>) => Promise<void>;
}
