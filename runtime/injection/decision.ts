import type { LeftAlone } from './inject.ts';
import type { Code } from './messages.ts';
import type { Operation } from './reach.ts';
import type { InjectorSettings, NamespacePolicy, Workload } from './types.ts';

export interface DecisionInput {
  /** The whole object, as it is or is about to be. */
  readonly workload: Workload;
  /** What an UPDATE changes, where that is known. */
  readonly old?: Workload;
  readonly operation: Operation;
  readonly policy: NamespacePolicy;
  readonly injector: InjectorSettings;
  /** ISO 8601, for the stamp. */
  readonly now: string;
  readonly by: 'webhook' | 'controller';
  /** Whether an injection of an older version is renewed although nothing else asks for it. */
  readonly renew?: boolean;
}

/** How the programs of an injection that is left as it is differ from those of a new one. */
interface Standing {
  /** The telemetry proxy that they send to, where it is another than this operator's: it may be gone. */
  readonly elsewhere?: string;
}

export type Decision =
  | (Standing & {
      readonly action: 'inject';
      /** `none`: our labels were put right, and nothing that anybody need be told of has changed. */
      readonly change: 'added' | 'updated' | 'none';
      readonly workload: Workload;
      readonly code: Code;
      readonly message: string;
      readonly leftAlone: readonly LeftAlone[];
    })
  | { readonly action: 'remove'; readonly workload: Workload; readonly code: Code; readonly message: string }
  | (Standing & {
      readonly action: 'none';
      readonly code: Code;
      readonly message: string;
      /** The workload should be changed and cannot be: somebody should be told. */
      readonly blocked?: boolean;
    });

export const none = (code: Code, message: string, more: Standing & { readonly blocked?: boolean } = {}): Decision => ({
  action: 'none',
  code,
  message,
  ...more,
});

/** Something of ours that nobody need be told of is put right. */
export const putRight = (workload: Workload, code: Code, message: string, more: Standing = {}): Decision => ({
  ...{ action: 'inject', change: 'none', workload, code, message, leftAlone: [] },
  ...more,
});
