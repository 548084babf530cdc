import { z } from 'zod';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import type { PendingWrites } from '#shared/graph/call-parts.ts';
import { type Db, type Pool, statement } from '#shared/db/pool.ts';
import { controlRows } from './pending-writes.ts';
import { acceptsWorkOf, nextPhase, startsPhase } from './row.ts';

/** Appends frames to a run whose row is locked by the caller's transaction. */
export async function appendFrames(
  db: Db,
  runId: string,
  frames: readonly StreamFrame[],
): Promise<void> {
  if (frames.length === 0) return;
  await db.query(statement(z.object({}))`
    WITH run AS (
      UPDATE runs SET frame_seq = frame_seq + ${frames.length}::int WHERE id = ${runId}
      RETURNING id, frame_seq - ${frames.length}::int AS base)
    INSERT INTO run_frames (run_id, seq, frame)
    SELECT run.id, run.base + f.pos, f.frame
    FROM run, json_to_recordset(${JSON.stringify(frames.map((frame, i) => ({ pos: i + 1, frame })))}::json)
           AS f (pos bigint, frame json)
  `);
}

/** Writes the control steps and observations that came with a call, for a run whose row the caller has locked. */
export async function writePending(db: Db, pendingWrites: PendingWrites): Promise<void> {
  if (pendingWrites.control.length === 0 && pendingWrites.observed.length === 0) return;
  const { control, frames } = controlRows(pendingWrites);
  await db.query(statement(z.object({}))`
    WITH run AS (
      UPDATE runs SET frame_seq = frame_seq + ${frames.length}::int, updated_at = now() WHERE id = ${pendingWrites.run_id}
      RETURNING id, resumed_count AS epoch, frame_seq - ${frames.length}::int AS base
    )
    SELECT write_control_2(run.id, run.epoch, run.base, ${JSON.stringify(control)},
                           ${JSON.stringify(pendingWrites.observed)}, ${JSON.stringify(frames)}) FROM run
  `);
}

/** Like `writePending`, in its own transaction, if the run still accepts this execution's work. */
export async function recordControl(
  db: Pool,
  call: PendingWrites & { execution: string; at_rest?: true },
): Promise<void> {
  await db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(z.object({ id: z.string() }))`
      UPDATE runs SET ${call.at_rest === true ? nextPhase(true) : startsPhase},
        temporal_run_id = ${call.execution}, lost_since = NULL, started_at = coalesce(started_at, clock_timestamp()),
        status = CASE WHEN status = 'pending' THEN 'running' ELSE status END, updated_at = now()
      WHERE id = ${call.run_id} AND ${acceptsWorkOf(call.execution)} RETURNING id
    `);
    if (run !== null) await writePending(tx, call);
  });
}
