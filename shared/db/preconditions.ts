import { z } from 'zod';
import { lockWorkspace } from './people/workspaces.ts';
import { type Pool, sql, statement, type Tx } from './pool.ts';

/**
 * Locks a record for a comparison before its change, in the same order as the change itself. `null` where the change
 * only locks the workspace.
 */
const tables = {
  workflow: 'workflows',
  template: 'templates',
  schedule: 'schedules',
  trigger: 'event_triggers',
  tool: 'custom_tools',
  secret: 'secrets',
  connection: 'connections',
  budget: 'budgets',
  feed: 'data_feeds',
  source: 'data_sources',
  endpoint: 'data_endpoints',
  dataKey: 'data_keys',
  apiKey: null,
  member: null,
  workspace: null,
} as const;

export type LockedNoun = keyof typeof tables;

const workspaceFirst: ReadonlySet<LockedNoun> = new Set([
  'workflow',
  'schedule',
  'trigger',
  'tool',
  'secret',
  'connection',
  'apiKey',
  'member',
  'workspace',
]);

/** Locks until the transaction ends. A record that does not exist is left to the change. */
export async function lockForComparison(
  tx: Tx,
  noun: LockedNoun,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<void> {
  if (workspaceFirst.has(noun)) await lockWorkspace(tx, workspaceId);
  if (noun === 'schedule' || noun === 'trigger') {
    await tx.query(statement(z.object({}))`
      SELECT FROM ${sql.identifier([tables[noun]])} s JOIN workflows w ON w.id = s.workflow_id
      WHERE s.id = ${id} AND s.workspace_id = ${workspaceId} FOR SHARE OF w
    `);
  }
  const table = tables[noun];
  if (table === null) return;
  const key = sql.identifier([noun === 'secret' ? 'name' : 'id']);
  await tx.query(statement(z.object({}))`
    SELECT FROM ${sql.identifier([table])} WHERE ${key} = ${id} AND workspace_id = ${workspaceId} FOR NO KEY UPDATE
  `);
}

/** A pool whose first transaction begins with this check. */
export function withFirstCheck(db: Pool, check: (tx: Tx) => Promise<void>): Pool {
  let passed = false;
  const transaction: Pool['transaction'] = async (work, retries) => {
    const result = await db.transaction(async (tx) => {
      if (!passed) await check(tx);
      return work(tx);
    }, retries);
    passed = true;
    return result;
  };
  return new Proxy(db, {
    get: (target, key, receiver): unknown =>
      key === 'transaction' ? transaction : Reflect.get(target, key, receiver),
  });
}
