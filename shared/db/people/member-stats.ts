import { z } from 'zod';
import type { MemberStats } from '#shared/contract/people/member.ts';
import { notFound } from '#shared/errors.ts';
import { toDollars } from '#shared/money/money.ts';
import { listActionsOf } from '#shared/db/audit/audit.ts';
import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';

/**
 * Member statistics per UTC day, in `member_days`. An audit entry is counted when it gets its seal, which happens once;
 * a cost when it is folded into the usage of its day. Until then, both are read from their queues. So no action waits
 * for counting, and retention only removes counted rows.
 *
 * A statement that updates several days locks them in the order of their key.
 */

/** The counts of the audit entries `a` of one member and day. */
const counted = sql.fragment`
  count(*) AS actions,
  count(*) FILTER (WHERE a.target_type = 'workflow' AND a.action = 'run') AS runs,
  count(*) FILTER (WHERE a.target_type = 'run' AND a.action = 'approve') AS approvals,
  count(*) FILTER (WHERE a.target_type = 'run' AND a.action = 'reject') AS rejections,
  count(*) FILTER (WHERE a.target_type = 'workflow' AND a.action = 'create') AS workflows_created`;
const dayOf = sql.fragment`(a.created_at AT TIME ZONE 'UTC')::date`;

/**
 * Counts the entries of a workspace whose `seq` are in a CTE `sealed`. Entries of a deleted workspace are not counted.
 */
export const countSealed = (sealed: FragmentSqlToken, workspaceId: string) => sql.fragment`
  counted AS (
    INSERT INTO member_days AS d
      (workspace_id, member_id, day, actions, runs, approvals, rejections, workflows_created)
    SELECT a.workspace_id, a.actor_id, ${dayOf}, ${counted}
    FROM ${sealed} s
    -- Looked up one by one: the planner would otherwise read all entries of the workspace.
    CROSS JOIN LATERAL (SELECT * FROM audit_log WHERE seq = s.seq AND workspace_id = ${workspaceId} OFFSET 0) a
    JOIN workspaces w ON w.id = a.workspace_id
    WHERE a.actor_id IS NOT NULL
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (workspace_id, member_id, day) DO UPDATE SET
      actions = d.actions + excluded.actions, runs = d.runs + excluded.runs,
      approvals = d.approvals + excluded.approvals, rejections = d.rejections + excluded.rejections,
      workflows_created = d.workflows_created + excluded.workflows_created
  )`;

/** Adds the costs of deltas in a CTE `taken` to the days of the members who own the runs. */
export const addCosts = (taken: FragmentSqlToken) => sql.fragment`
  member_costs AS (
    INSERT INTO member_days AS d (workspace_id, member_id, day, cost_micros)
    SELECT t.workspace_id, t.member_id, t.day, sum(t.cost_micros)
    FROM ${taken} t JOIN workspaces w ON w.id = t.workspace_id
    WHERE t.member_id IS NOT NULL
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (workspace_id, member_id, day) DO UPDATE SET cost_micros = d.cost_micros + excluded.cost_micros
  )`;

const statsRow = z.object({
  runs: z.number(),
  approvals: z.number(),
  rejections: z.number(),
  workflows_created: z.number(),
  cost_micros: z.number(),
  activity: z.array(z.object({ date: z.string(), count: z.number() })),
});

const RECENT_ACTIONS = 15;

/** The present state; `at` (ISO 8601) sets the days that are shown. Throws AppError `not_found`. */
export async function readMemberStats(
  db: Db,
  {
    workspaceId,
    memberId,
    at = null,
  }: { workspaceId: string; memberId: string; at?: string | null },
): Promise<MemberStats> {
  // One statement, because a waiting entry could be counted twice between two.
  const row = await db.maybeOne(statement(statsRow)`
    WITH days AS MATERIALIZED (
      SELECT day, sum(actions) AS actions, sum(runs) AS runs, sum(approvals) AS approvals,
             sum(rejections) AS rejections, sum(workflows_created) AS workflows_created, sum(cost_micros) AS cost_micros
      FROM (
        SELECT day, actions, runs, approvals, rejections, workflows_created, cost_micros
        FROM member_days WHERE workspace_id = ${workspaceId} AND member_id = ${memberId}
        UNION ALL
        SELECT ${dayOf}, ${counted}, 0
        FROM audit_unsealed u
        CROSS JOIN LATERAL (SELECT * FROM audit_log WHERE seq = u.seq AND workspace_id = u.workspace_id OFFSET 0) a
        WHERE u.workspace_id = ${workspaceId} AND a.actor_id = ${memberId} GROUP BY 1
        UNION ALL
        SELECT day, 0, 0, 0, 0, 0, cost_micros
        FROM usage_deltas WHERE workspace_id = ${workspaceId} AND member_id = ${memberId}
      ) all_days GROUP BY day
    ), shown AS (
      SELECT (coalesce(${at}::timestamptz, now()) AT TIME ZONE 'UTC')::date - n AS day FROM generate_series(0, 29) AS n
    ), totals AS (
      SELECT coalesce(sum(runs), 0) AS runs, coalesce(sum(approvals), 0) AS approvals,
             coalesce(sum(rejections), 0) AS rejections, coalesce(sum(workflows_created), 0) AS workflows_created,
             coalesce(sum(cost_micros), 0) AS cost_micros
      FROM days
    )
    SELECT t.*,
           (SELECT json_agg(json_build_object('date', to_char(s.day, 'YYYY-MM-DD'), 'count', coalesce(d.actions, 0))
                            ORDER BY s.day)
            FROM shown s LEFT JOIN days d ON d.day = s.day) AS activity
    FROM members m, totals t WHERE m.id = ${memberId} AND m.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Member');
  const recent = { workspaceId, actorId: memberId, limit: RECENT_ACTIONS };
  return {
    member_id: memberId,
    runs_triggered: row.runs,
    approvals: row.approvals,
    rejections: row.rejections,
    workflows_created: row.workflows_created,
    total_cost_usd: toDollars(row.cost_micros),
    activity: row.activity,
    recent_actions: await listActionsOf(db, recent),
  };
}
