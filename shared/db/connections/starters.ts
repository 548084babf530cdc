import { z } from 'zod';
import { type Db, statement } from '#shared/db/pool.ts';

const starterRow = z.object({
  member_id: z.string().nullable(),
  is_shared: z.boolean(),
  is_active: z.boolean(),
  key: z.string().nullable(),
});

/**
 * The member whose accounts a step uses, or why there is none, as the rest of a sentence: that of the member who started the
 * run, or of the one who approved the step.
 */
export type RunAccount = { memberId: string } | { missing: string; of?: 'approver' };

/** The member who approved a step that acts as its approver; null if no one did. */
export async function readApproverAccount(
  db: Db,
  { workspaceId, memberId }: { workspaceId: string; memberId: string | null },
): Promise<RunAccount> {
  if (memberId === null) return { missing: 'no member has approved it', of: 'approver' };
  const isActive = await db.exists(statement(z.object({}))`
    SELECT FROM members WHERE id = ${memberId} AND workspace_id = ${workspaceId} AND status = 'active'
  `);
  return isActive ? { memberId } : { missing: 'this member was removed', of: 'approver' };
}

/**
 * The member who started a run, or the run above it that started it. A resume does not change it, and a fork is started
 * by its forker. Under a debounce, others may have joined a run with another input. A key acts for its member only if no other person can
 * know its secret.
 */
export async function readRunAccount(
  db: Db,
  { workspaceId, runId }: { workspaceId: string; runId: string },
): Promise<RunAccount> {
  const row = await db.maybeOne(statement(starterRow)`
    WITH RECURSIVE above AS (
      SELECT r.parent_run_id, r.created_by, r.joined, r.depth FROM runs r
      WHERE r.id = ${runId} AND r.workspace_id = ${workspaceId}
      UNION ALL
      SELECT r.parent_run_id, r.created_by, r.joined, r.depth FROM above a JOIN runs r ON r.id = a.parent_run_id
      WHERE r.workspace_id = ${workspaceId}
    ), first AS (
      SELECT (array_agg(created_by ORDER BY depth))[1] AS member_id,
             bool_or(joined) AS is_shared
      FROM above
    )
    SELECT f.member_id, coalesce(f.is_shared, false) AS is_shared,
           EXISTS (SELECT FROM members m WHERE m.id = f.member_id AND m.workspace_id = ${workspaceId}
                   AND m.status = 'active') AS is_active,
           (SELECT k.name FROM api_keys k
            WHERE k.member_id = f.member_id AND k.workspace_id = ${workspaceId} AND k.revoked_at IS NULL
              AND k.created_by IS DISTINCT FROM k.member_id LIMIT 1) AS key
    FROM first f
  `);
  if (row === null || row.member_id === null) return { missing: 'no member started this run' };
  if (row.is_shared) return { missing: 'further triggers have joined it under a debounce' };
  if (!row.is_active) return { missing: 'the member who started this run was removed' };
  if (row.key !== null) {
    return {
      missing: `another person made the API key '${row.key}' of the member who started this run: revoke it`,
    };
  }
  return { memberId: row.member_id };
}

/** The address of a member whose account it is; null if they were removed. */
export const readHolderEmail = (
  db: Db,
  { workspaceId, memberId }: { workspaceId: string; memberId: string },
): Promise<string | null> =>
  db.maybeOneFirst(statement(z.object({ email: z.string() }))`
    SELECT email FROM members WHERE id = ${memberId} AND workspace_id = ${workspaceId} AND status = 'active'
  `);
