import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import {
  type DataKey,
  type DataKeyInput,
  dataKeyPrefixes,
  dataKeySchema,
} from '#shared/contract/data/key.ts';
import { notFound } from '#shared/errors.ts';
import { newApiKeySecret } from '#shared/crypto/api-key-secrets.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { requireRoom } from '#shared/db/people/limits.ts';

const keyRow = dataKeySchema
  .omit({ etag: true })
  .transform((key): DataKey => withEtag(key, ['last_used_at']));

/** Keys as the API shows them. */
const keyColumns = sql.fragment`
  id, name, mode, prefix, scopes, expires_at, ip_allowlist, monthly_request_allowance, monthly_credit_allowance,
  revoked_at IS NOT NULL AS revoked, created_at, last_used_at`;

/** Keys of a workspace, newest first, including revoked ones. */
export async function listDataKeys(
  db: Db,
  page: OffsetPage & { workspaceId: string },
): Promise<readonly DataKey[]> {
  return db.any(statement(keyRow)`
    SELECT ${keyColumns} FROM data_keys WHERE workspace_id = ${page.workspaceId}
    ORDER BY created_at DESC, id DESC ${offsetClause(page)}
  `);
}

/** Throws AppError `not_found`. */
export async function readDataKey(
  db: Db,
  { workspaceId, keyId }: { workspaceId: string; keyId: string },
): Promise<DataKey> {
  const key = await db.maybeOne(statement(keyRow)`
    SELECT ${keyColumns} FROM data_keys WHERE id = ${keyId} AND workspace_id = ${workspaceId}
  `);
  if (key === null) throw notFound('API key');
  return key;
}

/**
 * Creates a key and returns it with its secret, which is not stored. Throws AppError `conflict` when there are too
 * many.
 */
export async function createDataKey(
  db: Pool,
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  input: DataKeyInput,
): Promise<DataKey & { secret: string }> {
  const { secret, prefix, hash } = newApiKeySecret(dataKeyPrefixes[input.mode]);
  return db.transaction(async (tx) => {
    await requireRoom(tx, actor.workspaceId, 'dataKeys');
    const key = await tx.one(statement(keyRow)`
      INSERT INTO data_keys (id, workspace_id, name, mode, prefix, hash, scopes, expires_at, ip_allowlist,
                             monthly_request_allowance, monthly_credit_allowance, created_by)
      VALUES (${newId('dataKey')}, ${actor.workspaceId}, ${input.name}, ${input.mode}, ${prefix}, ${sql.binary(hash)},
              ${sql.array(input.scopes, 'text')}, ${input.expires_at ?? null}::timestamptz,
              ${sql.array(input.ip_allowlist, 'text')}, ${input.monthly_request_allowance ?? null}::bigint,
              ${input.monthly_credit_allowance ?? null}::bigint, ${actor.id})
      RETURNING ${keyColumns}
    `);
    await auditKey(tx, actor, key, 'create');
    return { ...key, secret };
  });
}

/** Revokes a key, effective for the next request. Has no effect on a revoked key. Throws AppError `not_found`. */
export async function revokeDataKey(db: Pool, actor: Actor, keyId: string): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    const key = await readDataKey(tx, { workspaceId, keyId });
    const { rowCount } = await tx.query(statement(z.object({}))`
      UPDATE data_keys SET revoked_at = now()
      WHERE id = ${keyId} AND workspace_id = ${workspaceId} AND revoked_at IS NULL
    `);
    if (rowCount > 0) await auditKey(tx, actor, key, 'revoke');
  });
}

const auditKey = (
  tx: Tx,
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  key: DataKey,
  action: 'create' | 'revoke',
): Promise<void> =>
  recordAudit(tx, actor, {
    action,
    targetType: 'data_key',
    targetId: key.id,
    details: { name: key.name, mode: key.mode, prefix: key.prefix, scopes: key.scopes },
  });
