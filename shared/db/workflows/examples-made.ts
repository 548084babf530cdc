import { z } from 'zod';
import { type Db, statement } from '#shared/db/pool.ts';

const madeRow = z.object({ key: z.string(), id: z.string() });

/** The examples that were created in a workspace, by key: their ids, including deleted ones. */
export async function readExamples(
  db: Db,
  workspaceId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.any(statement(madeRow)`
    SELECT key, id FROM examples_made WHERE workspace_id = ${workspaceId}
  `);
  return new Map(rows.map(({ key, id }) => [key, id]));
}

/** Records that an example was created, or created again. */
export async function recordExample(
  db: Db,
  made: { workspaceId: string; key: string; id: string },
): Promise<void> {
  await db.query(statement(z.object({}))`
    INSERT INTO examples_made (workspace_id, key, id) VALUES (${made.workspaceId}, ${made.key}, ${made.id})
    ON CONFLICT (workspace_id, key) DO UPDATE SET id = excluded.id, made_at = now()
    WHERE examples_made.id <> excluded.id
  `);
}
