import type { Command } from 'commander';
import type { ConnectOptions } from '../kubernetes/http/connect.ts';
import type { Shell } from './shell.ts';

export interface Invocation<F = object> extends Shell {
  readonly flags: ConnectOptions & F;
  /** A command without an argument has an empty text. */
  readonly argument: string;
  readonly program: Command;
}

export interface CommandModule {
  readonly run: (invocation: Invocation<never>) => Promise<void>;
}
