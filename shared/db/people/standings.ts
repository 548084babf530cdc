import { z } from 'zod';
import { roles } from '#shared/people/capabilities.ts';
import type { MemberStanding } from '#shared/graph/gates/gate-settings.ts';
import { type Db, statement } from '#shared/db/pool.ts';

const standingRow = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(roles),
  active: z.boolean(),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/** All members of a workspace, in any status, with everything that determines their permissions. */
export const readStandings = async (
  db: Db,
  workspaceId: string,
): Promise<readonly MemberStanding[]> =>
  db.any(statement(standingRow)`
    SELECT id, name, role, status = 'active' AS active, overrides FROM members WHERE workspace_id = ${workspaceId} ORDER BY created_at, id
  `);
