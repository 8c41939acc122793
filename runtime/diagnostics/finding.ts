import { renderTable, type Paint, type Tone } from './table.ts';

/** `unknown`: your account may not read it, or there is nothing to check yet. */
export interface Finding {
  readonly check: string;
  readonly result: 'ok' | 'failed' | 'unknown';
  readonly details: string;
  readonly todo?: string;
}

export type Outcome = Omit<Finding, 'check'>;

export const ok = (details: string): Outcome => ({ result: 'ok', details });
export const failed = (details: string, todo: string): Outcome => ({ result: 'failed', todo, details });
export const unknown = (details: string): Outcome => ({ result: 'unknown', details });

const tones: Readonly<Record<Finding['result'], Tone>> = { ok: 'good', failed: 'bad', unknown: 'unsure' };

export function renderFindings(findings: readonly Finding[], paint: Paint): string {
  const rows = findings.flatMap(({ check, result, details, todo }) => [
    [check, { text: result, tone: tones[result] }, details],
    ...(todo === undefined ? [] : [['', '', `→ ${todo}`]]),
  ]);
  return renderTable([['CHECK', 'RESULT', 'DETAILS'], ...rows], paint);
}
