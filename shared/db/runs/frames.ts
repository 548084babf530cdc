import { z } from 'zod';
import {
  type RunEvent,
  runEventSchema,
  type StreamFrame,
  streamFrameSchema,
} from '#shared/contract/runs/stream.ts';
import { notFound } from '#shared/errors.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';

/** The channel that wakes readers of frames. Its payload lists run ids; an empty one means all runs. */
export const FRAMES_CHANNEL = 'run_frames';

/** NOTIFY refuses payloads of 8,000 bytes and more. */
const MAX_PAYLOAD_BYTES = 7_000;

/** Wakes every reader of these runs. Call it after the commit that wrote the frames, never inside it: a
 * transaction that has notified takes a database-wide lock at its commit. */
export async function notifyFrames(db: Db, runIds: readonly string[]): Promise<void> {
  const payload = runIds.join(',');
  await db.query(statement(z.object({ pg_notify: z.unknown() }))`
    SELECT pg_notify(${FRAMES_CHANNEL}, ${payload.length > MAX_PAYLOAD_BYTES ? '' : payload})
  `);
}

const frameRow = z.object({ run_id: z.string(), seq: z.number(), frame: streamFrameSchema });
export type StoredFrame = z.infer<typeof frameRow>;

/** The frames after each run's cursor, in order within a run. At most 1,000 rows: read again from the new cursors. */
export async function readFrames(
  db: Db,
  cursors: readonly { runId: string; after: number }[],
): Promise<readonly StoredFrame[]> {
  if (cursors.length === 0) return [];
  return db.any(statement(frameRow)`
    SELECT f.run_id, f.seq, f.frame
    FROM ${sql.unnest(
      cursors.map((cursor) => [cursor.runId, cursor.after]),
      ['text', 'int8'],
    )} AS c (run_id, after)
    JOIN run_frames f ON f.run_id = c.run_id AND f.seq > c.after
    ORDER BY f.run_id, f.seq
    LIMIT 1000
  `);
}

/**
 * A page of a run's frames, oldest first, from the one after number `after`. `next_cursor` is the `after` of the next
 * page. Throws AppError `not_found` when this workspace has no such run.
 */
export async function listRunEvents(
  db: Db,
  page: { workspaceId: string; runId: string; after: number; limit: number },
): Promise<{ events: RunEvent[]; next_cursor: string | null }> {
  const rows = await db.any(statement(runEventSchema)`
    SELECT f.seq, f.created_at AS at, f.frame
    FROM runs r JOIN run_frames f ON f.run_id = r.id
    WHERE r.id = ${page.runId} AND r.workspace_id = ${page.workspaceId} AND f.seq > ${page.after}::bigint
    ORDER BY f.seq LIMIT ${page.limit + 1}
  `);
  if (rows.length === 0 && (await readStreamPlace(db, page)) === undefined) throw notFound('Run');
  const events = rows.slice(0, page.limit);
  const last = events.at(-1);
  const more = rows.length > page.limit && last !== undefined;
  return { events, next_cursor: more ? String(last.seq) : null };
}

/** The run's newest frame and status, in one statement; undefined when this workspace has no such run. */
export async function readStreamPlace(
  db: Db,
  scope: { workspaceId: string; runId: string },
): Promise<{ newest: number; ended: boolean } | undefined> {
  const row = await db.maybeOne(statement(placeRow)`
    SELECT frame_seq AS newest, status IN ('success', 'failed') AS ended
    FROM runs WHERE id = ${scope.runId} AND workspace_id = ${scope.workspaceId}
  `);
  return row ?? undefined;
}

const placeRow = z.object({ newest: z.number(), ended: z.boolean() });

/**
 * A frame that is only written if its step really made the transition: `opened` when the step started (or restarted),
 * `closed` when it ended. So a repeated call writes each frame once.
 */
export interface StepFrame {
  step_key: string;
  edge: 'opened' | 'closed';
  frame: StreamFrame;
}
