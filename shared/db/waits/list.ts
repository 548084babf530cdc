import { z } from 'zod';
import { type OpenWait, openWaitSchema, type WaitQuery } from '#shared/contract/waits/open-wait.ts';
import { decodeCursor, pageOf, toMicroseconds, toTimestamp } from '#shared/db/cursor.ts';
import { type Db, sql } from '#shared/db/pool.ts';
import { allWaits } from './waits.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const waitRow = openWaitSchema.extend({
  events: storedJson<string[]>(),
  limit: storedJson<OpenWait['limit']>(),
  connection: storedJson<OpenWait['connection']>(),
  at: z.number(),
  id: z.string(),
});

/**
 * The open waits of a workspace, newest first: all, those for one thing, or those for a sign-in of one member. Throws AppError
 * `invalid` for a cursor of another list.
 */
export async function listOpenWaits(
  db: Db,
  { workspaceId }: { workspaceId: string },
  { limit, cursor, for: kind, member_id: memberId }: WaitQuery,
): Promise<{ waits: OpenWait[]; next_cursor: string | null }> {
  const end = cursor === undefined ? undefined : decodeCursor(cursor);
  const id = sql.fragment`w.run_id || ' ' || w.step_key`;
  const rows = await db.any(sql.type(waitRow)`
    SELECT ${id} AS id, ${toMicroseconds(sql.fragment`w.opened_at`)} AS at, w.run_id, r.workflow_id, f.name AS workflow_name,
           w.node_id, w.step_key, w.label, w.for, w.opened_at AS since, w.due_at AS until, w.events, w.limit, w.connection
    FROM (${allWaits}) AS w JOIN runs r ON r.id = w.run_id JOIN workflows f ON f.id = r.workflow_id
    WHERE w.workspace_id = ${workspaceId}
      AND ${kind === undefined ? sql.fragment`true` : sql.fragment`w.for = ${kind}`}
      AND ${memberId === undefined ? sql.fragment`true` : sql.fragment`w.connection ->> 'member_id' = ${memberId}`}
      AND ${end === undefined ? sql.fragment`true` : sql.fragment`(w.opened_at, ${id}) < (${toTimestamp(end.at)}, ${end.id})`}
    ORDER BY w.opened_at DESC, id DESC LIMIT ${limit + 1}
  `);
  const page = pageOf(rows, limit);
  return {
    waits: page.rows.map(({ at: _at, id: _id, ...wait }) => wait),
    next_cursor: page.next_cursor,
  };
}
