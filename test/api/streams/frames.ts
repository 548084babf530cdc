import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import { type Pool, sql } from '#shared/db/pool.ts';
import { notifyFrames } from '#shared/db/runs/frames.ts';
import { appendFrames } from '#shared/db/runs/log.ts';

/** Adds frames to a run, and says so to the processes. */
export async function append(db: Pool, runId: string, frames: StreamFrame[]): Promise<void> {
  await db.transaction((tx) => appendFrames(tx, runId, frames));
  await notifyFrames(db, [runId]);
}

/** Adds a frame for the start of each of these nodes. */
export const startNodes = (db: Pool, runId: string, nodes: string[]): Promise<void> =>
  append(
    db,
    runId,
    nodes.map((id) => ({ run_id: runId, type: 'step_started', node_id: id, label: id })),
  );

/** Ends a run as the engine does: its status and its last frame in one transaction. */
export async function endRun(db: Pool, runId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(sql.unsafe`
      UPDATE runs SET status = 'success', finished_at = now() WHERE id = ${runId}`);
    await appendFrames(tx, runId, [{ run_id: runId, type: 'run_completed' }]);
  });
  await notifyFrames(db, [runId]);
}
