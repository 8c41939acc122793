import type { Problem } from '../problem.ts';

/** What the leader keeps in mind of one namespace between two looks at it. */
export interface NamespaceState {
  /** The policy under which its workloads were last planned, as text. */
  plannedPolicy: string | undefined;
  /** Whether an earlier leader's list of instrumented resources was taken over. */
  adopted: boolean;
  credential:
    | {
        readonly specText: string;
        readonly problem: Problem | undefined;
        readonly checkedAt: number;
        readonly failures: number;
      }
    | undefined;
}

export const newNamespaceState = (): NamespaceState => ({
  plannedPolicy: undefined,
  adopted: false,
  credential: undefined,
});

/** A good credential is looked at again once a minute; a bad one soon, because somebody is waiting for it. */
export function credentialDueMs(failures: number): number {
  return failures === 0 ? 60_000 : Math.min(1_000 * 2 ** (failures - 1), 15_000);
}
