import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import { toDollars } from '#shared/money/money.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { waitsForSlot } from '#shared/db/limits/slots.ts';
import { enqueue, type OutboxRow } from './outbox.ts';
import { recordGovernanceEvent } from '#shared/db/policies/governance.ts';
import { asBudgetError, blockedVerdict, BudgetExceeded } from '#shared/db/money/blocked.ts';
import { type Pool, statement, type Tx } from '#shared/db/pool.ts';

const placeRow = z.object({
  id: z.string(),
  workflow_id: z.string(),
  workflow_version: z.number(),
});
const resumableRow = z.object({
  ...placeRow.shape,
  status: z.string(),
  failure: z.object({ kind: z.string() }).nullable(),
  /** Includes the runs below it, which count against its cap. */
  cost_micros: z.number(),
});

/** Resumes a run that a budget stopped, without its block budgets. */
export interface Override {
  /** Cap on the run's total cost; null: no cap. */
  capMicros: number | null;
  reason?: string;
}

/**
 * Resumes a failed run: the run is `running` again, the reported failure is granted, and the reset of its execution is
 * queued, or waits for a slot of its workflow's limit. Of two concurrent resumes, the second finds the run no longer failed: 409.
 */
export async function resumeRun(
  db: Pool,
  resume: { actor: Actor; runId: string; override?: Override },
): Promise<OutboxRow | undefined> {
  try {
    return await db.transaction((tx) => resumeIn(tx, resume));
  } catch (error) {
    if (error instanceof BudgetExceeded) await recordRefusal(db, resume, error);
    throw error;
  }
}

async function resumeIn(
  tx: Tx,
  { actor, runId, override }: { actor: Actor; runId: string; override?: Override },
): Promise<OutboxRow | undefined> {
  const run = await tx.maybeOne(statement(resumableRow)`
    SELECT id, workflow_id, workflow_version, status, failure,
           cost_micros + (SELECT coalesce(sum(b.cost_micros), 0)::bigint FROM runs b
                          WHERE b.id = ANY (ARRAY(SELECT a.id FROM runs_below(r.id) AS a))) AS cost_micros
    FROM share_budgets(${actor.workspaceId}) CROSS JOIN runs r
    WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR UPDATE OF r
  `);
  if (run === null) throw notFound('Run');
  if (run.status !== 'failed') {
    throw conflict(`Run is ${run.status}: only a failed run can be resumed`);
  }
  if (run.failure?.kind === 'unrecorded') {
    throw conflict(
      'The rehearsal ended at a step without a record, and would end there again: start another one, with what it needs in allow or decisions',
    );
  }
  if (override !== undefined && run.failure?.kind !== 'budget') {
    throw conflict('Run has not failed on a budget: only then can it be overridden');
  }
  if (override?.capMicros != null && override.capMicros <= run.cost_micros) {
    throw new AppError(
      'invalid',
      `cap_usd: the run has already cost ${toDollars(run.cost_micros)}`,
    );
  }
  const n = await markRunning(tx, runId, override);
  if (override === undefined) {
    await recordAudit(tx, actor, { action: 'resume', targetType: 'run', targetId: runId });
  } else {
    await recordOverride(tx, actor, run, override);
  }
  return enqueueResume(tx, runId, n);
}

/**
 * Queues the reset of a run's execution. Under a limit, it first needs a slot of its key; undefined if it waits for one.
 */
export async function enqueueResume(
  tx: Tx,
  runId: string,
  n: number,
): Promise<OutboxRow | undefined> {
  if (await waitsForSlot(tx, runId, { kind: 'resume', payload: { n } })) return undefined;
  return enqueue(tx, { runId, kind: 'resume', payload: { n } });
}

async function recordRefusal(
  db: Pool,
  { actor, runId }: { actor: Actor; runId: string },
  error: BudgetExceeded,
): Promise<void> {
  const run = await db.maybeOne(statement(placeRow)`
    SELECT id, workflow_id, workflow_version FROM runs
    WHERE id = ${runId} AND workspace_id = ${actor.workspaceId}
  `);
  if (run === null) return;
  await recordGovernanceEvent(db, { ...blockedVerdict(error.blocked), ...placeOf(actor, run) });
}

const placeOf = (actor: Actor, run: z.infer<typeof placeRow>) => ({
  workspaceId: actor.workspaceId,
  workflowId: run.workflow_id,
  version: run.workflow_version,
  runId: run.id,
  actorId: actor.id,
});

const resumedRow = z.object({ n: z.number() });

/**
 * Makes a locked, failed run `running` again, and places its holds. Returns the number of this resume of the run. Throws
 * AppError `budget_exceeded`.
 */
export async function markRunning(
  tx: Tx,
  runId: string,
  override: Override | undefined,
): Promise<number> {
  const resume = statement(resumedRow)`
    WITH run AS (
      UPDATE runs SET status = 'running', error = NULL, failure = NULL, finished_at = NULL, evals = NULL,
        failures_granted = failures_reported, resumed_count = resumed_count + 1, phase_since = clock_timestamp(), at_rest = false,
        updated_at = now(), lost_since = NULL, resuming = true,
        superseded = CASE WHEN temporal_run_id IS NULL THEN superseded ELSE array_append(superseded, temporal_run_id) END,
        budget_exempt = budget_exempt OR ${override !== undefined},
        cost_cap_micros = CASE WHEN ${override !== undefined} THEN ${override?.capMicros ?? null}::bigint ELSE cost_cap_micros END
      WHERE id = ${runId}
      RETURNING id, workspace_id, workflow_id, resumed_count, cost_micros, budget_exempt, created_at, parent_run_id
    ), used AS (
      INSERT INTO usage_deltas (workspace_id, day, failed) SELECT workspace_id, created_at::date, -1 FROM run
    )
    SELECT resumed_count AS n
    FROM run, place_holds_1(id, resumed_count, cost_micros, workspace_id, workflow_id, parent_run_id, budget_exempt)
  `;
  try {
    return (await tx.one(resume)).n;
  } catch (error) {
    throw asBudgetError(error);
  }
}

async function recordOverride(
  tx: Tx,
  actor: Actor,
  run: z.infer<typeof placeRow>,
  override: Override,
): Promise<void> {
  const { capMicros, reason = null } = override;
  const cap = capMicros === null ? null : toDollars(capMicros);
  await recordAudit(tx, actor, {
    action: 'budget_override',
    targetType: 'run',
    targetId: run.id,
    details: { cap_usd: cap, reason },
  });
  const who = actor.name ?? 'an API key';
  await recordGovernanceEvent(tx, {
    type: 'approval_override_granted',
    policy: 'budget',
    decision: 'granted',
    reason: `Budgets overridden by ${who}${reason === null ? '' : `: ${reason}`}`,
    evidence: { cap_usd: cap },
    ...placeOf(actor, run),
  });
}
