import { z } from 'zod';
import { conflict } from '#shared/errors.ts';
import { type LimitedNoun, workspaceLimits } from '#shared/limits.ts';
import { type FragmentSqlToken, sql, statement, type Tx } from '#shared/db/pool.ts';
import { lockWorkspace } from './workspaces.ts';

/** The rows that count toward each limit, in a table aliased `t`. */
const counted: Readonly<Record<LimitedNoun, FragmentSqlToken>> = {
  workflows: sql.fragment`workflows t WHERE true`,
  templates: sql.fragment`templates t WHERE true`,
  schedules: sql.fragment`schedules t WHERE true`,
  triggers: sql.fragment`event_triggers t WHERE true`,
  tools: sql.fragment`custom_tools t WHERE true`,
  secrets: sql.fragment`secrets t WHERE true`,
  connections: sql.fragment`connections t WHERE true`,
  budgets: sql.fragment`budgets t WHERE true`,
  members: sql.fragment`members t WHERE status <> 'pending'`,
  apiKeys: sql.fragment`api_keys t WHERE revoked_at IS NULL`,
  dataKeys: sql.fragment`data_keys t WHERE revoked_at IS NULL`,
  feeds: sql.fragment`data_feeds t WHERE true`,
  sources: sql.fragment`data_sources t WHERE true`,
  endpoints: sql.fragment`data_endpoints t WHERE true`,
  jobs: sql.fragment`background_jobs t WHERE status = 'running'`,
};

/**
 * Checks that a workspace has room for one more item, which the same transaction then adds. The workspace's row stays
 * locked until the transaction ends: of two concurrent requests for the last item, the second waits and then counts the
 * first. `isDemo` counts only that kind. Throws AppError `conflict`, with a remedy, and `not_found` for the workspace.
 */
export async function requireRoom(
  tx: Tx,
  workspaceId: string,
  noun: LimitedNoun,
  isDemo?: boolean,
): Promise<void> {
  const { atMost, called, remedy } = workspaceLimits[noun];
  await lockWorkspace(tx, workspaceId);
  const kind = isDemo === undefined ? sql.fragment`` : sql.fragment`AND t.is_demo = ${isDemo}`;
  const n = await tx.oneFirst(statement(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM (
      SELECT FROM ${counted[noun]} AND t.workspace_id = ${workspaceId} ${kind} LIMIT ${atMost}::int) found
  `);
  if (n >= atMost) throw conflict(`A workspace has at most ${atMost} ${called}; ${remedy}`);
}
