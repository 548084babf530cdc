import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { RunView } from '#shared/contract/runs/run-view.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import { MAX_VIEW_NAME, MAX_VIEWS } from '#shared/limits.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { type Db, type Pool, sql, statement } from '#shared/db/pool.ts';

/** Saved views: filters of the list of runs that a member has saved. Credentials without a member share theirs. */

type Owner = Pick<Actor, 'workspaceId' | 'id'>;

const viewRow = z.object({ name: z.string(), filter: z.string(), saved_at: z.string() });

const ofOwner = ({ workspaceId, id }: Owner) => sql.fragment`
  workspace_id = ${workspaceId} AND member_id IS NOT DISTINCT FROM ${id}::text`;

/** The views of the actor, by name. */
export async function listRunViews(db: Db, actor: Owner): Promise<RunView[]> {
  const rows = await db.any(statement(viewRow)`
    SELECT name, filter, saved_at FROM run_views WHERE ${ofOwner(actor)} ORDER BY lower(name), name
  `);
  return [...rows];
}

/**
 * Saves a view, and replaces the actor's view with the same name. Throws AppError `invalid` for the name, and
 * `conflict` when there are too many views.
 */
export async function saveRunView(
  db: Pool,
  actor: Owner,
  { name, filter }: Omit<RunView, 'saved_at'>,
): Promise<RunView> {
  if (name.trim() !== name || name.length > MAX_VIEW_NAME) {
    throw new AppError(
      'invalid',
      `The name of a view has 1 to ${MAX_VIEW_NAME} characters, and no white space at its ends`,
    );
  }
  return db.transaction(async (tx) => {
    // Of two requests for the last slot, the second counts the first.
    await lockWorkspace(tx, actor.workspaceId);
    const others = await tx.oneFirst(statement(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM run_views WHERE ${ofOwner(actor)} AND name <> ${name}
    `);
    if (others >= MAX_VIEWS) {
      throw conflict(`You can save at most ${MAX_VIEWS} views; remove some first`);
    }
    return tx.one(statement(viewRow)`
      INSERT INTO run_views (workspace_id, member_id, name, filter)
      VALUES (${actor.workspaceId}, ${actor.id}, ${name}, ${filter})
      ON CONFLICT ON CONSTRAINT run_views_one_per_name DO UPDATE SET filter = excluded.filter, saved_at = now()
      RETURNING name, filter, saved_at
    `);
  });
}

/** Throws AppError `not_found`. */
export async function removeRunView(db: Pool, actor: Owner, name: string): Promise<void> {
  const removed = await db.maybeOne(statement(z.object({ name: z.string() }))`
    DELETE FROM run_views WHERE ${ofOwner(actor)} AND name = ${name} RETURNING name
  `);
  if (removed === null) throw notFound('View');
}
