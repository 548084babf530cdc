import type { EvaluationCheck, Evals } from '#shared/contract/workflows/evaluation-check.ts';
import type { Figures, FinishedRun } from '#shared/db/experiments/figures.ts';
import type { RunResult } from '#shared/db/experiments/results.ts';
import { compareRuns, type EndedRun } from '#shared/graph/experiments/comparison.ts';
import type { JsonObject } from '#shared/json.ts';
import { toDollars } from '#shared/money/money.ts';
import { evaluateChecksUntrusted } from '#shared/platform/threads/run-checks.ts';

/** A run and its rehearsal. */
export interface Pair {
  workspaceId: string;
  checks: EvaluationCheck[];
  source: FinishedRun;
  rehearsal: FinishedRun;
}

/**
 * The result of a rehearsal. Both runs are scored by the same checks. For them, and in the figures, the candidate has
 * the recorded cost and duration for steps that it takes from the record, and the actual ones for the others.
 */
export async function comparePair({
  workspaceId,
  checks,
  source,
  rehearsal,
}: Pair): Promise<Pick<RunResult, 'comparison' | 'figures'>> {
  const base = figuresOf(source);
  const candidate = figuresOf(rehearsal);
  const scored = async (run: FinishedRun, { micros }: Figures, ms: number): Promise<EndedRun> => ({
    ...run,
    evals: await evalsOf(workspaceId, checks, run, { micros, ms }),
  });
  const comparison = compareRuns(
    await scored(source, base, source.active_ms),
    await scored(rehearsal, candidate, Math.max(0, source.active_ms + candidate.ms - base.ms)),
  );
  return { comparison, figures: { base, candidate } };
}

/** A run whose input the candidate does not accept counts as if it had failed immediately. */
export async function compareRefusedInput(
  { workspaceId, checks, source }: Omit<Pair, 'rehearsal'>,
  error: string,
): Promise<Pick<RunResult, 'comparison' | 'figures'>> {
  const figures = { ...figuresOf(source), ms: source.active_ms };
  const evals = await evalsOf(workspaceId, checks, source, figures);
  const refused = { status: 'failed', output: null, error, failure: { kind: 'input' } } as const;
  return {
    comparison: compareRuns({ ...source, evals }, { ...refused, evals: null }),
    figures: null,
  };
}

const figuresOf = ({ micros, ms }: FinishedRun): Figures => ({ micros, ms });

async function evalsOf(
  workspaceId: string,
  checks: EvaluationCheck[],
  { status, output, state }: FinishedRun,
  { micros, ms }: Figures,
): Promise<Evals | null> {
  if (status !== 'success' || checks.length === 0) return null;
  return evaluateChecksUntrusted(workspaceId, checks, {
    state: state ?? {},
    output: output as JsonObject,
    cost_usd: toDollars(micros),
    duration_ms: ms,
  });
}
