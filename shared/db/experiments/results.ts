import { z } from 'zod';
import {
  type ComparedRun,
  experimentOutcomes,
  type ExperimentSummary,
} from '#shared/contract/experiments/experiment.ts';
import { cursorsOf } from '#shared/db/cursor.ts';
import { badnessOf, type Comparison, type Outcome } from '#shared/graph/experiments/comparison.ts';
import { intervalOf } from '#shared/graph/experiments/interval.ts';
import { MICROS_PER_DOLLAR, toDollars } from '#shared/money/money.ts';
import { type Db, sql, statement, type Tx } from '#shared/db/pool.ts';
import type { Figures } from './figures.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/** The result of one rehearsal. */
export interface RunResult {
  n: number;
  rehearsalRunId: string | null;
  comparison: Comparison;
  /** Of the run and of the candidate; null where there is nothing to compare. */
  figures: { base: Figures; candidate: Figures } | null;
}

/** Stores results of rehearsals. A run keeps its first result. */
export async function insertResults(
  tx: Tx,
  experimentId: string,
  results: readonly RunResult[],
): Promise<void> {
  const rows = results.map(({ n, rehearsalRunId, comparison, figures }) => ({
    n,
    rehearsal_run_id: rehearsalRunId,
    outcome: comparison.outcome,
    badness: badnessOf(comparison),
    reason: comparison.reason,
    diff: comparison.diff,
    checks_won: comparison.checks.won,
    checks_lost: comparison.checks.lost,
    base_micros: figures?.base.micros ?? null,
    candidate_micros: figures?.candidate.micros ?? null,
    base_ms: figures?.base.ms ?? null,
    candidate_ms: figures?.candidate.ms ?? null,
  }));
  await tx.query(statement(z.object({}))`
    UPDATE experiment_runs e SET
      rehearsal_run_id = t.rehearsal_run_id, outcome = t.outcome, badness = t.badness, reason = t.reason, diff = t.diff,
      checks_won = t.checks_won, checks_lost = t.checks_lost, base_micros = t.base_micros,
      candidate_micros = t.candidate_micros, base_ms = t.base_ms, candidate_ms = t.candidate_ms
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS t (
      n int, rehearsal_run_id text, outcome text, badness int, reason text, diff json, checks_won json, checks_lost json,
      base_micros bigint, candidate_micros bigint, base_ms bigint, candidate_ms bigint)
    WHERE e.experiment_id = ${experimentId} AND e.n = t.n AND e.outcome IS NULL
  `);
}

const resultRow = z.object({
  n: z.number(),
  run_id: z.string(),
  rehearsal_run_id: z.string().nullable(),
  input: z.string().nullable(),
  outcome: z.enum(experimentOutcomes),
  badness: z.number(),
  reason: z.string().nullable(),
  diff: storedJson<ComparedRun['diff']>(),
  checks_won: z.array(z.string()),
  checks_lost: z.array(z.string()),
  base_micros: z.number().nullable(),
  candidate_micros: z.number().nullable(),
  base_ms: z.number().nullable(),
  candidate_ms: z.number().nullable(),
});

const toComparedRun = (row: z.infer<typeof resultRow>): ComparedRun => ({
  run_id: row.run_id,
  rehearsal_run_id: row.rehearsal_run_id,
  input: row.input,
  outcome: row.outcome,
  reason: row.reason,
  diff: row.diff,
  checks: { won: row.checks_won, lost: row.checks_lost },
  cost_usd: pairOf(row.base_micros, row.candidate_micros, toDollars),
  duration_ms: pairOf(row.base_ms, row.candidate_ms, (ms) => ms),
});

function pairOf(base: number | null, candidate: number | null, unit: (amount: number) => number) {
  return base === null || candidate === null
    ? null
    : { base: unit(base), candidate: unit(candidate) };
}

/** The length of the shown beginning of an input. */
const INPUT_CHARACTERS = 300;

const cursors = cursorsOf(z.tuple([z.int(), z.int()]));

/**
 * The runs of an experiment that are done, worst first; among equally bad ones, the newest first. Without a limit, all
 * of them. Throws AppError `invalid` for a cursor of another list.
 */
export async function listResults(
  db: Db,
  experimentId: string,
  page: { limit?: number; cursor?: string | undefined; outcome?: Outcome | undefined },
): Promise<{ runs: ComparedRun[]; next_cursor: string | null }> {
  const [badness, n] = page.cursor === undefined ? [null, null] : cursors.decode(page.cursor);
  const outcome = page.outcome ?? null;
  const limit = page.limit === undefined ? null : page.limit + 1;
  const rows = await db.any(statement(resultRow)`
    SELECT n, run_id, rehearsal_run_id, (SELECT left(r.input::text, ${INPUT_CHARACTERS}) FROM runs r WHERE r.id = run_id) AS input,
           outcome, badness, reason, diff, checks_won, checks_lost, base_micros, candidate_micros, base_ms, candidate_ms
    FROM experiment_runs
    WHERE experiment_id = ${experimentId} AND outcome IS NOT NULL
      AND (${outcome}::text IS NULL OR outcome = ${outcome}::text)
      AND (${badness}::int IS NULL OR (-badness, n) > (-${badness}::int, ${n}::int))
    ORDER BY badness DESC, n LIMIT ${limit}::bigint
  `);
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const more = rows.length > shown.length && last !== undefined;
  return {
    runs: shown.map(toComparedRun),
    next_cursor: more ? cursors.encode([last.badness, last.n]) : null,
  };
}

const figuresShape = z.object({
  base: z.number(),
  candidate: z.number(),
  mean: z.number(),
  deviation: z.number(),
});

/** The row of an experiment's summary, as `summaryJson` builds it. */
export const summaryShape = z.object({
  equal: z.number(),
  changed: z.number(),
  failed: z.number(),
  unrecorded: z.number(),
  refused: z.number(),
  won: z.number(),
  lost: z.number(),
  checks: z.number(),
  broken: z.array(z.object({ name: z.string(), runs: z.number() })).nullable(),
  compared: z.number(),
  micros: figuresShape,
  ms: figuresShape,
});

const MOST_BROKEN = 10;

const isCompared = sql.fragment`FILTER (WHERE x.outcome IN ('equal', 'changed'))`;

const figuresOf = (unit: 'micros' | 'ms') => {
  const base = unit === 'micros' ? sql.fragment`x.base_micros` : sql.fragment`x.base_ms`;
  const candidate =
    unit === 'micros' ? sql.fragment`x.candidate_micros` : sql.fragment`x.candidate_ms`;
  return sql.fragment`json_build_object(
    'base', coalesce(sum(${base}) ${isCompared}, 0), 'candidate', coalesce(sum(${candidate}) ${isCompared}, 0),
    'mean', coalesce(avg(${candidate} - ${base}) ${isCompared}, 0)::float8,
    'deviation', coalesce(stddev_samp(${candidate} - ${base}) ${isCompared}, 0)::float8)`;
};

/** The summary of experiment `e`. */
export const summaryJson = sql.fragment`(
  SELECT json_build_object(
    'equal', count(*) FILTER (WHERE x.outcome = 'equal'), 'changed', count(*) FILTER (WHERE x.outcome = 'changed'),
    'failed', count(*) FILTER (WHERE x.outcome = 'failed'),
    'unrecorded', count(*) FILTER (WHERE x.outcome = 'unrecorded'),
    'refused', count(*) FILTER (WHERE x.outcome = 'refused'),
    'won', coalesce(sum(json_array_length(x.checks_won)), 0), 'lost', coalesce(sum(json_array_length(x.checks_lost)), 0),
    'checks', json_array_length(e.checks), 'broken', (
      SELECT json_agg(b) FROM (
        SELECT l.name, count(*) AS runs
        FROM experiment_runs y CROSS JOIN json_array_elements_text(y.checks_lost) AS l (name)
        WHERE y.experiment_id = e.id GROUP BY l.name ORDER BY runs DESC, l.name LIMIT ${MOST_BROKEN}) b),
    'compared', count(*) ${isCompared}, 'micros', ${figuresOf('micros')}, 'ms', ${figuresOf('ms')})
  FROM experiment_runs x WHERE x.experiment_id = e.id)`;

export function toExperimentSummary(row: z.infer<typeof summaryShape>): ExperimentSummary {
  const { equal, changed, failed, unrecorded, refused, won, lost, checks, broken } = row;
  const { compared, micros, ms } = row;
  const totalOf = (figures: z.infer<typeof figuresShape>, unit: number, rounded: number) => {
    const round = (amount: number): number => Math.round((amount / unit) * rounded) / rounded;
    const interval = intervalOf({ count: compared, ...figures });
    return {
      base: round(figures.base),
      candidate: round(figures.candidate),
      difference:
        interval === null
          ? null
          : {
              mean: round(interval.mean),
              low: round(interval.low),
              high: round(interval.high),
            },
    };
  };
  return {
    equal,
    changed,
    failed,
    unrecorded,
    refused,
    checks: { won, lost, total: checks, broken: broken ?? [] },
    cost_usd: totalOf(micros, MICROS_PER_DOLLAR, MICROS_PER_DOLLAR),
    duration_ms: totalOf(ms, 1, 10),
  };
}
