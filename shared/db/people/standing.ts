import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import {
  type Capability,
  firstLacking,
  heldCapabilities,
  holds,
  roles,
  without,
} from '#shared/people/capabilities.ts';
import { forbiddenWithout } from '#shared/errors.ts';
import { statement, type Tx } from '#shared/db/pool.ts';
import { lockWorkspace } from './workspaces.ts';

/**
 * The actor's current permissions for changes of membership or permissions. The lock on the workspace's row serializes
 * such changes.
 */

const standing = z.object({
  name: z.string(),
  role: z.enum(roles),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/**
 * Waits for earlier changes and returns the actor's current state: a member who was demoted or removed in the meantime
 * is refused. Throws AppError `forbidden` without the capability.
 */
export async function lockMembership(tx: Tx, actor: Actor, capability: Capability): Promise<Actor> {
  await lockWorkspace(tx, actor.workspaceId);
  // An unlinked key has its own role, which does not change.
  const now =
    actor.id === null
      ? actor
      : await tx.maybeOne(statement(standing)`
          SELECT name, role, overrides FROM members
          WHERE id = ${actor.id} AND workspace_id = ${actor.workspaceId} AND status = 'active'
        `);
  if (now === null) throw forbiddenWithout(capability);
  const overrides = without(now.overrides, actor.withheld);
  if (!holds(now.role, overrides, capability)) throw forbiddenWithout(capability);
  return { ...actor, name: now.name, role: now.role, overrides };
}

/**
 * An actor cannot grant or remove more than they hold. Throws AppError `forbidden` with the first capability that the
 * holder has and the actor lacks.
 */
export function requireAtLeast(actor: Actor, holder: Pick<Actor, 'role' | 'overrides'>): void {
  const lacking = firstLacking(actor, heldCapabilities(holder.role, holder.overrides));
  if (lacking !== undefined) throw forbiddenWithout(lacking);
}
