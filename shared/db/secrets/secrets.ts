import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import { type Secret, type SecretInput, secretSchema } from '#shared/contract/secrets/secret.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { raiseToolRevision } from '#shared/db/tools/custom-tools.ts';

interface SecretScope {
  workspaceId: string;
  name: string;
}

/** Binds a sealed value to its workspace and name: it cannot be opened for any other. */
export const secretPlace = ({ workspaceId, name }: SecretScope): string =>
  `${workspaceId}/secrets/${name}`;

const secretRow = secretSchema
  .omit({ etag: true })
  .transform((secret): Secret => withEtag(secret, ['last_used_at']));
const secretColumns = sql.fragment`
  name, allowed_hosts, description, created_at, updated_at, last_used_at`;

/** Sorted by name. */
export async function listSecrets(
  db: Db,
  workspaceId: string,
  page?: OffsetPage,
): Promise<readonly Secret[]> {
  return db.any(statement(secretRow)`
    SELECT ${secretColumns} FROM secrets WHERE workspace_id = ${workspaceId}
    ORDER BY name ${offsetClause(page)}
  `);
}

/** Throws AppError `not_found`. */
export async function readSecret(db: Db, { workspaceId, name }: SecretScope): Promise<Secret> {
  const secret = await db.maybeOne(statement(secretRow)`
    SELECT ${secretColumns} FROM secrets WHERE workspace_id = ${workspaceId} AND name = ${name}
  `);
  if (secret === null) throw notFound('Secret');
  return secret;
}

/**
 * Creates or replaces a secret with this sealed value. Throws AppError `conflict` when the workspace has too many.
 */
export async function putSecret(
  db: Pool,
  actor: Actor,
  { name, sealed, ...input }: Omit<SecretInput, 'value'> & { name: string; sealed: string },
): Promise<{ secret: Secret; created: boolean }> {
  const { workspaceId } = actor;
  const hosts = sql.array(input.allowed_hosts, 'text');
  return db.transaction(async (tx) => {
    await lockWorkspace(tx, workspaceId);
    const before = await tx.maybeOne(statement(secretRow)`
      SELECT ${secretColumns} FROM secrets WHERE workspace_id = ${workspaceId} AND name = ${name} FOR UPDATE
    `);
    if (before === null) await requireRoom(tx, workspaceId, 'secrets');
    await raiseToolRevision(tx, workspaceId);
    const secret = await tx.one(statement(secretRow)`
      INSERT INTO secrets (workspace_id, name, sealed_value, allowed_hosts, description)
      VALUES (${workspaceId}, ${name}, ${sealed}, ${hosts}, ${input.description})
      ON CONFLICT (workspace_id, name) DO UPDATE
      SET sealed_value = excluded.sealed_value, allowed_hosts = excluded.allowed_hosts,
          description = excluded.description, updated_at = now()
      RETURNING ${secretColumns}
    `);
    const action = before === null ? 'create' : 'update';
    const { allowed_hosts } = secret;
    await auditSecret(tx, actor, name, action, { allowed_hosts });
    return { secret, created: before === null };
  });
}

/** Deletes a secret. Steps that need it fail from now on. Throws AppError `not_found`. */
export async function deleteSecret(db: Pool, actor: Actor, name: string): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    await raiseToolRevision(tx, workspaceId);
    const deleted = await tx.maybeOne(statement(secretRow)`
      DELETE FROM secrets WHERE workspace_id = ${workspaceId} AND name = ${name} RETURNING ${secretColumns}
    `);
    if (deleted === null) throw notFound('Secret');
    await auditSecret(tx, actor, name, 'delete', {});
  });
}

/** An audit entry about a secret, always without its value. */
const auditSecret = (
  tx: Tx,
  actor: Actor,
  name: string,
  action: 'create' | 'update' | 'delete',
  details: JsonObject,
): Promise<void> =>
  recordAudit(tx, actor, { action, targetType: 'secret', targetId: name, details });

const sealedRow = z.object({
  name: z.string(),
  sealed_value: z.string(),
  allowed_hosts: z.array(z.string()),
});

/** A secret as stored: its value is sealed for `secretPlace`. */
export interface SealedSecret {
  workspaceId: string;
  name: string;
  sealed: string;
  hosts: readonly string[];
}

/** The workspace's secrets that a call needs, by name; marks them as used. Secrets that do not exist are missing. */
export async function useSecrets(
  db: Db,
  { workspaceId, names }: { workspaceId: string; names: readonly string[] },
): Promise<ReadonlyMap<string, SealedSecret>> {
  if (names.length === 0) return new Map();
  const rows = await db.any(statement(sealedRow)`
    WITH used AS (
      UPDATE secrets SET last_used_at = date_trunc('minute', now())
      WHERE workspace_id = ${workspaceId} AND name = ANY (${sql.array(names, 'text')})
        AND last_used_at IS DISTINCT FROM date_trunc('minute', now())
    )
    SELECT name, sealed_value, allowed_hosts FROM secrets
    WHERE workspace_id = ${workspaceId} AND name = ANY (${sql.array(names, 'text')})
  `);
  return new Map(
    rows.map(({ name, sealed_value: sealed, allowed_hosts: hosts }) => [
      name,
      { workspaceId, name, sealed, hosts },
    ]),
  );
}
