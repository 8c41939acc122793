import { isForbidden } from '../kubernetes/http/errors.ts';
import { describeError } from '../wording/errors.ts';
import { withoutTokens } from '../wording/token.ts';
import { renderTable, type Paint, type Tone } from './table.ts';

/** `unknown`: your account may not read it, or there is nothing to check yet. */
export interface Finding {
  readonly check: string;
  readonly result: 'ok' | 'failed' | 'unknown';
  readonly details: string;
  readonly todo?: string;
}

export type Outcome = Omit<Finding, 'check'>;

export interface Check<C> {
  readonly name: string;
  readonly look: (context: C) => Promise<Outcome>;
}

export const ok = (details: string): Outcome => ({ result: 'ok', details });
export const failed = (details: string, todo: string): Outcome => ({ result: 'failed', details, todo });
export const unknown = (details: string): Outcome => ({ result: 'unknown', details });

export const runChecks = <C>(checks: readonly Check<C>[], context: C): Promise<Finding[]> =>
  Promise.all(
    checks.map(async ({ name, look }) => {
      const { details, ...outcome } = await look(context).catch(outcomeOfError);
      return { check: name, ...outcome, details: withoutTokens(details) };
    }),
  );

const outcomeOfError = (error: unknown): Outcome =>
  isForbidden(error)
    ? unknown(`Your account may not check this: ${describeError(error)}`)
    : failed(describeError(error), 'Check that the API server answers, and run the command again');

const tones: Readonly<Record<Finding['result'], Tone>> = { ok: 'good', failed: 'bad', unknown: 'unsure' };

export const renderFindings = (findings: readonly Finding[], paint: Paint): string =>
  renderTable(
    {
      header: ['CHECK', 'RESULT', 'DETAILS'],
      rows: findings.flatMap(({ check, result, details, todo }) => [
        [check, { text: result, tone: tones[result] }, details],
        ...(todo === undefined ? [] : [['', '', `→ ${todo}`]]),
      ]),
    },
    paint,
  );
