import type { PatchOperation } from '../injection/types.ts';
import { withoutTokens } from '../credentials/token.ts';
import type { Verdict } from './verdict.ts';

const VALUE_WIDTH = 140;

export type Outlook = 'instrument' | 'update' | 'relabel' | 'remove' | 'untouched' | 'CANNOT' | 'REFUSED';

/** What would happen, in a word. */
export function outlook({ decision, patch, refusal }: Verdict): Outlook {
  if (refusal !== undefined) return 'REFUSED';
  if (decision.action === 'none') return decision.blocked === true ? 'CANNOT' : 'untouched';
  if (patch.length === 0) return 'untouched';
  if (decision.action === 'remove') return 'remove';
  return decision.change === 'updated' ? 'update' : decision.change === 'none' ? 'relabel' : 'instrument';
}

/**
 * The verdicts of one namespace as text: a line a workload, then why, then the patch and what the API server says to it; in the end
 * the `rollout`, in which order that would be.
 */
export function renderVerdicts(
  namespace: string,
  policy: string,
  verdicts: readonly Verdict[],
  rollout: readonly string[] = [],
): string {
  const names = verdicts.map(({ kind, name }) => `${kind.kind}/${name}`);
  const width = Math.max(0, ...names.map((name) => name.length));
  const lines = verdicts.flatMap((verdict, index) => [
    `  ${(names[index] ?? '').padEnd(width)}  ${outlook(verdict).padEnd(10)}  ${verdict.decision.message}`,
    ...renderPatch(verdict),
  ]);
  const empty = verdicts.length === 0 ? ['  (no workloads)'] : [];
  return [`Namespace ${namespace}: ${policy}`, ...lines, ...empty, ...rollout, ''].join('\n');
}

function renderPatch({ patch, refusal, warnings }: Verdict): string[] {
  if (patch.length === 0) return [];
  const answer = refusal === undefined ? 'accepts it' : `refuses it: ${withoutTokens(refusal)}`;
  return [
    ...patch.map(renderOperation),
    `    = the API server ${answer}`,
    ...warnings.map((text) => `    ! ${withoutTokens(text)}`),
  ];
}

const signs = { add: '+', replace: '~', remove: '-', test: '?' } as const;

function renderOperation(operation: PatchOperation): string {
  // Before it is cut: half a token would not be known as one.
  const value = operation.op === 'remove' ? '' : ` ${withoutTokens(JSON.stringify(operation.value))}`;
  const short = value.length > VALUE_WIDTH ? `${value.slice(0, VALUE_WIDTH)}…` : value;
  return `    ${signs[operation.op]} ${withoutTokens(operation.path)}${short}`;
}
