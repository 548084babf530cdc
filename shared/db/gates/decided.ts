import { z } from 'zod';
import { type DecidedGate, gateKinds } from '#shared/contract/gates/gate.ts';
import { decodeCursor, pageOf, toMicroseconds, toTimestamp } from '#shared/db/cursor.ts';
import { type Db, sql } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { deciderOf, decisionRecord, type StoredDecision, toDecision } from './asked.ts';
import { titleOf } from './gate-records.ts';

/** Older decisions are in the audit log. */
const DAYS = 30;

const decidedRow = z.object({
  id: z.string(),
  at: z.number(),
  run_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  node_id: z.string(),
  step_key: z.string(),
  round: z.number(),
  kind: z.enum(gateKinds),
  label: z.string(),
  title: z.string(),
  decision: storedJson<StoredDecision>(),
  decider: storedJson<DecidedGate['decider']>(),
  changed_arguments: z.boolean(),
});

/**
 * The decisions of the last 30 days at the gates of runs, newest first: not those of rehearsals, and not those that a
 * fork has from its source. Throws AppError `invalid` for a cursor of another list.
 */
export async function listDecided(
  db: Db,
  { workspaceId, limit, cursor }: { workspaceId: string; limit: number; cursor?: string },
): Promise<{ decided: DecidedGate[]; next_cursor: string | null }> {
  const id = sql.fragment`g.run_id || '/' || g.step_key || '/' || g.round`;
  const end = cursor === undefined ? undefined : decodeCursor(cursor);
  const before =
    end === undefined
      ? sql.fragment`true`
      : sql.fragment`(g.decided_at, ${id}) < (${toTimestamp(end.at)}, ${end.id})`;
  const rows = await db.any(sql.type(decidedRow)`
    SELECT ${id} AS id, ${toMicroseconds(sql.fragment`g.decided_at`)} AS at, g.run_id, r.workflow_id, w.name AS workflow_name,
           g.node_id, g.step_key, g.round, g.kind, g.label, ${titleOf} AS title, ${decisionRecord} AS decision, ${deciderOf} AS decider,
           g.decided_arguments IS NOT NULL AS changed_arguments
    FROM gates g JOIN runs r ON r.id = g.run_id JOIN workflows w ON w.id = r.workflow_id
    WHERE g.status IN ('approved', 'rejected') AND g.decided_at > now() - ${DAYS}::int * interval '1 day'
      AND g.reused_from IS NULL AND r.rehearsal IS NULL AND r.workspace_id = ${workspaceId} AND ${before}
    ORDER BY g.decided_at DESC, ${id} DESC LIMIT ${limit + 1}
  `);
  const page = pageOf(rows, limit);
  return {
    decided: page.rows.map(({ id: _id, at: _at, decision, ...row }) => ({
      ...row,
      decision: toDecision(decision),
    })),
    next_cursor: page.next_cursor,
  };
}
