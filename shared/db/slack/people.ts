import { z } from 'zod';
import { roles } from '#shared/people/capabilities.ts';
import { type Db, statement } from '#shared/db/pool.ts';

const memberRow = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/** The active member with this email, in any case; undefined if there is none. */
export async function findMemberByEmail(
  db: Db,
  { workspaceId, email }: { workspaceId: string; email: string },
): Promise<z.infer<typeof memberRow> | undefined> {
  const row = await db.maybeOne(statement(memberRow)`
    SELECT id, name, role, overrides FROM members
    WHERE workspace_id = ${workspaceId} AND lower(email) = lower(${email}) AND status = 'active'
  `);
  return row ?? undefined;
}
