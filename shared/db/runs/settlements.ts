import { z } from 'zod';
import type { EvaluationCheck, Evals } from '#shared/contract/workflows/evaluation-check.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import type { SettleCall } from '#shared/execution.ts';
import { evaluateChecks, parseChecked, type StoredRun } from '#shared/graph/checks.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';
import { toDollars } from '#shared/money/money.ts';
import { controlRows } from './pending-writes.ts';
import { newId } from '#shared/crypto/ids.ts';
import { MAX_PENDING } from '#shared/db/webhooks/outbound-events.ts';
import { jsonOrNull, type Pool, sql, statement } from '#shared/db/pool.ts';
import { activeMsNow, acceptsWorkOf } from './row.ts';

/** `duration_ms` consists of the clocks `active_ms` and `phase_us`. */
const settling = z.object({
  status: z.string(),
  wanted: z.boolean(),
  cost_micros: z.number(),
  /** The cost of the runs below it. */
  below_micros: z.number(),
  active_ms: z.number(),
  workspace_id: z.string(),
  phase_us: z.number().nullable(),
  duration_ms: z.number(),
  /** Only set when there are checks. */
  state: z.string().nullable(),
  checks: z.array(z.unknown()).transform((checks) => checks as EvaluationCheck[]),
});

export interface Settlement {
  status: string;
  costMicros: number;
  /** False when the run had already ended, or another execution continues it. */
  settled: boolean;
  /** This call settled the run, and its parent must be notified. */
  hasParent?: boolean;
  /** It had a slot of its workflow's limit: the next run can start. */
  hasSlot?: boolean;
}

/** Scores a run, on a thread if necessary. */
export type EvaluateChecks = (
  workspaceId: string,
  checks: EvaluationCheck[],
  run: StoredRun,
) => Promise<Evals>;

/** Evaluates cheap checks; expensive ones fail. */
const evaluateOnTheSpot: EvaluateChecks = (_workspaceId, checks, run) =>
  Promise.resolve(evaluateChecks(checks, parseChecked(run), { budget: { work: SMALL_WORK } }));

/**
 * Ends a run with success: status, duration, output, state, evaluation checks, `run_completed` and `run_evaluated`.
 * Repeating the call finds `success` and changes nothing. A cancelled run does not change.
 */
export async function settleRun(
  db: Pool,
  call: SettleCall & { execution: string },
  evaluate: EvaluateChecks = evaluateOnTheSpot,
): Promise<Settlement> {
  // Most workflows have no checks and need no read first.
  const unchecked = await writeSettlement(db, call);
  if (unchecked.settled) return unchecked;
  for (let round = 0; round < MAX_SCORINGS; round += 1) {
    const run = await db.maybeOne(statement(settling)`
      SELECT r.workspace_id, r.status, (${acceptsWorkOf(call.execution)}) AS wanted, r.cost_micros, r.active_ms,
             (SELECT coalesce(sum(b.cost_micros), 0)::bigint FROM runs b
              WHERE b.id = ANY (ARRAY(SELECT a.id FROM runs_below(r.id) AS a))) AS below_micros,
             ${phaseMicroseconds} AS phase_us, ${activeMsNow} AS duration_ms, w.checks,
             CASE WHEN w.checks::text <> '[]' THEN whole_state_1(r.id, ${call.state}, ${jsonOrNull(call.outputs)})::text END AS state
      FROM (SELECT * FROM runs WHERE id = ${call.run_id}) AS r
      JOIN LATERAL (SELECT checks FROM workflows WHERE id = r.workflow_id) AS w ON true
    `);
    if (run === null) return { status: 'gone', costMicros: 0, settled: false };
    if (!run.wanted) return { status: run.status, costMicros: run.cost_micros, settled: false };
    const scored = run.checks.length === 0 ? undefined : await score(call, run, evaluate);
    const settlement = await writeSettlement(db, call, scored);
    if (settlement.settled) return settlement;
  }
  throw new Error(`run ${call.run_id} changed each time after its checks had been scored`);
}

/** A run rarely changes while it is being settled: only when a lost attempt books its cost. */
const MAX_SCORINGS = 5;

/** The check results and the scored run. The run is only settled if it has not changed since. */
interface Scored {
  evals: Evals;
  run: z.infer<typeof settling>;
}

async function score(
  { output, ...call }: SettleCall,
  run: z.infer<typeof settling>,
  evaluate: EvaluateChecks,
): Promise<Scored> {
  const { cost_micros, below_micros, duration_ms, workspace_id, checks } = run;
  const state = run.state ?? call.state;
  const cost_usd = toDollars(cost_micros + below_micros);
  return {
    evals: await evaluate(workspace_id, checks, { state, output, cost_usd, duration_ms }),
    run,
  };
}

const phaseMicroseconds = sql.fragment`(extract(epoch FROM phase_since) * 1000000)::bigint`;

const settled = z.object({
  cost_micros: z.number().nullable(),
  has_parent: z.boolean().nullable(),
  has_slot: z.boolean().nullable(),
});

/**
 * Settles the run with one call of the database function `settle_run_2`. Without `scored`, it does nothing if the
 * workflow has checks.
 */
async function writeSettlement(
  db: Pool,
  call: SettleCall & { execution: string },
  scored?: Scored,
): Promise<Settlement> {
  const { run_id } = call;
  const { control, frames } = controlRows(call);
  const last: StreamFrame[] = [{ run_id, type: 'run_completed' }];
  if (scored !== undefined) {
    const { passed, total } = scored.evals;
    last.push({ run_id, type: 'run_evaluated', passed, total });
  }
  const row = await db.one(statement(settled)`
    SELECT * FROM settle_run_2(
      run => ${run_id}, execution => ${call.execution}, control => ${JSON.stringify(control)},
      observed => ${JSON.stringify(call.observed)}, frames => ${JSON.stringify(frames)}, last => ${JSON.stringify(last)},
      output => ${call.output}, state => ${call.state}, outputs => ${jsonOrNull(call.outputs)},
      evals => ${jsonOrNull(scored?.evals)}, scored => ${jsonOrNull(scored && whenScored(scored))},
      event => ${newId('outboundEvent')}, most_pending => ${MAX_PENDING})
  `);
  const { has_parent: hasParent, cost_micros: costMicros, has_slot } = row;
  if (costMicros === null || hasParent === null) {
    return { status: 'ended', costMicros: 0, settled: false };
  }
  return { status: 'success', costMicros, settled: true, hasParent, hasSlot: has_slot === true };
}

/** The cost and clocks of the run when it was scored. */
const whenScored = ({ run }: Scored) => ({
  status: run.status,
  cost_micros: run.cost_micros,
  active_ms: run.active_ms,
  phase_us: run.phase_us,
  duration_ms: run.duration_ms,
});

const endedRun = z.object({
  workspace_id: z.string(),
  workflow_id: z.string(),
  workflow_version: z.number(),
  workflow_name: z.string(),
  status: z.string(),
  trigger: z.string(),
  failure_kind: z.string().nullable(),
  cost_micros: z.number(),
  resumed_count: z.number(),
  /** In ms since 1970, with fractions. After a resume: when the first step since then was queued. */
  began_ms: z.number(),
  finished_ms: z.number(),
});

/** A run since its start or last resume; undefined when it is open or was deleted. */
export async function readEndedRun(
  db: Pool,
  runId: string,
): Promise<z.infer<typeof endedRun> | undefined> {
  const row = await db.maybeOne(statement(endedRun)`
    SELECT r.workspace_id, r.workflow_id, r.workflow_version, w.name AS workflow_name, r.status, r.trigger,
           r.failure ->> 'kind' AS failure_kind, r.cost_micros, r.resumed_count,
           (extract(epoch FROM CASE WHEN r.resumed_count = 0 THEN r.created_at
              ELSE least(first.queued_at, r.finished_at) END) * 1000)::float8 AS began_ms,
           (extract(epoch FROM r.finished_at) * 1000)::float8 AS finished_ms
    FROM runs r
    JOIN workflows w ON w.id = r.workflow_id
    LEFT JOIN LATERAL (
      SELECT min(queued_at) AS queued_at FROM steps s WHERE s.run_id = r.id AND s.epoch = r.resumed_count
    ) AS first ON true
    WHERE r.id = ${runId} AND r.status IN ('success', 'failed')
  `);
  return row ?? undefined;
}
