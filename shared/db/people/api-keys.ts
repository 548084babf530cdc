import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { type Role, roles, without } from '#shared/people/capabilities.ts';
import { decisions } from '#shared/people/scopes.ts';
import { type ApiKey, type ApiKeyInput, apiKeySchema } from '#shared/contract/people/api-key.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import { memberStatuses } from '#shared/contract/people/member.ts';
import { AppError, notFound } from '#shared/errors.ts';
import { newApiKeySecret } from '#shared/crypto/api-key-secrets.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { requireAtLeast, lockMembership } from './standing.ts';
import { requireRoom } from './limits.ts';

const keyRow = apiKeySchema
  .omit({ etag: true })
  .transform((key): ApiKey => withEtag(key, ['last_used_at']));

/** Keys `k` as the API shows them. A key whose member was removed is invalid, so it is shown as revoked. */
const keyColumns = sql.fragment`
  k.id, k.name, k.prefix, coalesce(m.role, k.role) AS role, k.member_id, k.decide,
  k.revoked_at IS NOT NULL OR (k.member_id IS NOT NULL AND m.id IS NULL) AS revoked, k.created_at, k.last_used_at`;
const linkedMember = sql.fragment`
  LEFT JOIN members m ON m.id = k.member_id AND m.workspace_id = k.workspace_id AND m.status = 'active'`;

/** Keys of a workspace, newest first, including revoked ones. */
export async function listApiKeys(
  db: Db,
  page: OffsetPage & { workspaceId: string },
): Promise<readonly ApiKey[]> {
  return db.any(statement(keyRow)`
    SELECT ${keyColumns} FROM api_keys k ${linkedMember}
    WHERE k.workspace_id = ${page.workspaceId}
    ORDER BY k.created_at DESC, k.id DESC ${offsetClause(page)}
  `);
}

/** Throws AppError `not_found`. */
export async function readApiKey(
  db: Db,
  scope: { workspaceId: string; keyId: string },
): Promise<ApiKey> {
  const key = await db.maybeOne(statement(keyRow)`
    SELECT ${keyColumns} FROM api_keys k ${linkedMember}
    WHERE k.id = ${scope.keyId} AND k.workspace_id = ${scope.workspaceId}
  `);
  if (key === null) throw notFound('API key');
  return key;
}

/**
 * Creates a key and returns it with its secret, which is not stored. A key linked to a member has the member's role,
 * not the given one. Throws AppError `not_found` for a member of another workspace, `invalid` for one that is not
 * active, `forbidden` for a key with more permissions than the actor, `conflict` when there are too many keys.
 */
export async function createApiKey(
  db: Pool,
  actor: Actor,
  input: ApiKeyInput,
): Promise<ApiKey & { secret: string }> {
  const { workspaceId } = actor;
  const keyId = newId('apiKey');
  const { secret, prefix, hash } = newApiKeySecret();
  return db.transaction(async (tx) => {
    const maker = await lockMembership(tx, actor, 'manage_api_keys');
    await requireRoom(tx, workspaceId, 'apiKeys');
    const grant = await lockGrant(tx, workspaceId, input);
    requireAtLeast(maker, heldBy({ ...grant, decide: input.decide }));
    await tx.query(statement(z.object({}))`
      INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role, member_id, decide, created_by)
      VALUES (${keyId}, ${workspaceId}, ${input.name}, ${prefix}, ${sql.binary(hash)}, ${grant.role},
              ${input.member_id ?? null}, ${input.decide}, ${actor.id})
    `);
    const key = await readApiKey(tx, { workspaceId, keyId });
    await auditKey(tx, maker, key, 'create');
    return { ...key, secret };
  });
}

const linkRow = z.object({
  role: z.enum(roles),
  status: z.enum(memberStatuses),
  overrides: z.record(z.string(), z.boolean().nullable()),
});

/**
 * The capabilities of a new key. The linked member stays locked until the key exists: a concurrent removal comes first
 * and prevents the key, or comes later and revokes it.
 */
async function lockGrant(
  tx: Tx,
  workspaceId: string,
  { role, member_id: memberId }: ApiKeyInput,
): Promise<{ role: Role; overrides: Actor['overrides'] }> {
  if (memberId == null) {
    if (role === undefined) throw new AppError('invalid', 'Invalid body: role is required');
    return { role, overrides: {} };
  }
  const member = await tx.maybeOne(statement(linkRow)`
    SELECT role, status, overrides FROM members
    WHERE id = ${memberId} AND workspace_id = ${workspaceId} FOR SHARE
  `);
  if (member === null) throw notFound('Member');
  if (member.status !== 'active') {
    throw new AppError('invalid', `Invalid body: member_id is of a member who is ${member.status}`);
  }
  return { role: member.role, overrides: member.overrides };
}

const heldRow = z.object({
  role: z.enum(roles),
  overrides: z.record(z.string(), z.boolean().nullable()),
  decide: z.boolean(),
});

const heldBy = ({ role, overrides, decide }: z.infer<typeof heldRow>) => ({
  role,
  overrides: without(overrides, decide ? [] : decisions),
});

/** The capabilities of the key: those of its member, or the defaults of its role. */
const readHeld = async (tx: Tx, keyId: string): Promise<z.infer<typeof heldRow>> =>
  tx.one(statement(heldRow)`
    SELECT coalesce(m.role, k.role) AS role, coalesce(m.overrides, '{}') AS overrides, k.decide
    FROM api_keys k ${linkedMember} WHERE k.id = ${keyId}
  `);

/**
 * Revokes a key, effective for the next request. Has no effect on a revoked key. Throws AppError `not_found`, and
 * `forbidden` for a key with more permissions than the actor.
 */
export async function revokeApiKey(db: Pool, actor: Actor, keyId: string): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    const revoker = await lockMembership(tx, actor, 'manage_api_keys');
    const key = await readApiKey(tx, { workspaceId, keyId });
    if (key.revoked) return;
    requireAtLeast(revoker, heldBy(await readHeld(tx, keyId)));
    const { rowCount } = await tx.query(statement(z.object({}))`
      UPDATE api_keys SET revoked_at = now()
      WHERE id = ${keyId} AND workspace_id = ${workspaceId} AND revoked_at IS NULL
    `);
    if (rowCount > 0) await auditKey(tx, revoker, key, 'revoke');
  });
}

const auditKey = (tx: Tx, actor: Actor, key: ApiKey, action: 'create' | 'revoke'): Promise<void> =>
  recordAudit(tx, actor, {
    action,
    targetType: 'api_key',
    targetId: key.id,
    details: {
      name: key.name,
      prefix: key.prefix,
      role: key.role,
      member_id: key.member_id,
      ...(key.decide ? {} : { decide: false }),
    },
  });
