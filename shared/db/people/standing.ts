import { z } from 'zod';
import type { Actor } from '../../actor.ts';
import {
  type Capability,
  firstLacking,
  heldCapabilities,
  holds,
  roles,
} from '../../capabilities.ts';
import { forbiddenWithout } from '../../errors.ts';
import { sql, type Tx } from '../pool.ts';
import { lockWorkspace } from './workspaces.ts';

/**
 * What an actor may do at the moment of a change that decides who may do what. Such changes of one workspace take their
 * turn, by the workspace's row.
 */

const standing = z.object({
  name: z.string(),
  role: z.enum(roles),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/**
 * Waits for the changes before this one and returns the actor as they are then: whoever was demoted or removed while
 * their request waited may not go on. Throws AppError `forbidden` without the capability.
 */
export async function lockMembership(tx: Tx, actor: Actor, capability: Capability): Promise<Actor> {
  await lockWorkspace(tx, actor.workspaceId);
  // A key of no member has its own role, which does not change.
  const now =
    actor.id === null
      ? actor
      : await tx.maybeOne(sql.prepared('standing_read', standing)`
          SELECT name, role, overrides FROM members
          WHERE id = ${actor.id} AND workspace_id = ${actor.workspaceId} AND status = 'active'
        `);
  if (now === null || !holds(now.role, now.overrides, capability)) {
    throw forbiddenWithout(capability);
  }
  return { ...actor, name: now.name, role: now.role, overrides: now.overrides };
}

/**
 * Nobody gives or takes away more than they hold. Throws AppError `forbidden` with the first capability of the holder
 * that the actor lacks.
 */
export function requireAtLeast(actor: Actor, holder: Pick<Actor, 'role' | 'overrides'>): void {
  const lacking = firstLacking(actor, heldCapabilities(holder.role, holder.overrides));
  if (lacking !== undefined) throw forbiddenWithout(lacking);
}
