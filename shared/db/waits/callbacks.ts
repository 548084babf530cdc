import { z } from 'zod';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type Pool, statement, type Tx } from '#shared/db/pool.ts';
import type { CallbackStep } from '#shared/crypto/callback-tokens.ts';
import type { Json } from '#shared/json.ts';

/**
 * What is sent to the addresses of steps. A caller that stores it locks the row of the run, as one that opens a wait
 * does: so a step that is reached later finds it, and an open wait ends with it. The first one counts.
 */

/**
 * The outcome of a callback. `other`: another body was there before. `over`: the run has ended, or the step no longer
 * waits. `unknown`: there is no such step.
 */
export type CallbackOutcome = 'kept' | 'same' | 'other' | 'over' | 'unknown';

const runRow = z.object({
  workspace_id: z.string(),
  is_open: z.boolean(),
  is_over: z.boolean(),
  same: z.boolean().nullable(),
});

/** Stores the body as the callback of the step, and ends its wait if it is open. Repeating the call changes nothing. */
export async function receiveCallback(
  db: Pool,
  { runId, stepKey }: CallbackStep,
  body: Json,
): Promise<CallbackOutcome> {
  const text = JSON.stringify(body);
  return db.transaction(async (tx): Promise<CallbackOutcome> => {
    await lockRunOf(tx, runId);
    // After the lock, so that it sees what others have committed.
    const run = await tx.maybeOne(statement(runRow)`
      SELECT r.workspace_id, r.finished_at IS NULL AS is_open,
             EXISTS (SELECT FROM run_waits w WHERE w.run_id = r.id AND w.step_key = ${stepKey} AND w.status = 'late')
               OR EXISTS (SELECT FROM steps s WHERE s.run_id = r.id AND s.step_key = ${stepKey}
                            AND s.status IN ('success', 'skipped')) AS is_over,
             (SELECT c.body::jsonb = ${text}::jsonb FROM run_callbacks c WHERE c.run_id = r.id AND c.step_key = ${stepKey}) AS same
      FROM runs r WHERE r.id = ${runId} AND r.rehearsal IS NULL
    `);
    if (run === null) return 'unknown';
    if (run.same === true) return 'same';
    if (!run.is_open) return 'over';
    if (run.same === false) return 'other';
    if (run.is_over) return 'over';
    await tx.query(statement(z.object({}))`
      INSERT INTO run_callbacks (run_id, step_key, body) VALUES (${runId}, ${stepKey}, ${text}::json)
    `);
    await recordAudit(
      tx,
      { workspaceId: run.workspace_id, id: null, name: null },
      {
        action: 'callback_receive',
        targetType: 'run',
        targetId: runId,
        details: { step_key: stepKey },
      },
    );
    await takeCallback(tx, { runId, stepKey });
    return 'kept';
  });
}

/** Without the key, so that it does not wait for inserts that refer to the run. */
const lockRunOf = (tx: Tx, runId: string): Promise<unknown> =>
  tx.query(statement(z.object({}))`
    SELECT FROM runs WHERE id = ${runId} FOR NO KEY UPDATE
  `);

/** Ends the open wait of a step with the callback that has come, if there is one. The caller has locked the run. */
export async function takeCallback(tx: Tx, { runId, stepKey }: CallbackStep): Promise<void> {
  await tx.query(statement(z.object({}))`
    UPDATE run_waits w SET status = 'came', ended_at = clock_timestamp(), wake_at = clock_timestamp(), output = c.body
    FROM run_callbacks c
    WHERE w.run_id = ${runId} AND w.step_key = ${stepKey} AND w.status = 'open' AND w.kind = 'callback'
      AND c.run_id = w.run_id AND c.step_key = w.step_key
  `);
}
