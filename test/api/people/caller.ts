import { createHash } from 'node:crypto';
import { newId } from '#shared/crypto/ids.ts';
import { type Pool, sql } from '#shared/db/pool.ts';
import type { CapabilityOverrides, Role } from '#shared/people/capabilities.ts';

/** An active member with a key of their own, or with `member: false` only the key. */
export async function addCaller(
  { db, workspaceId }: { db: Pool; workspaceId: string },
  given: { role?: Role; overrides?: CapabilityOverrides; member?: boolean } = {},
): Promise<{ id: string; headers: Record<string, string> }> {
  const { role = 'editor', overrides = {}, member = true } = given;
  const id = newId('member');
  if (member) {
    await db.query(sql.unsafe`
      INSERT INTO members (id, workspace_id, name, email, role, status, overrides)
      VALUES (${id}, ${workspaceId}, ${`Member ${id.slice(-4)}`}, ${`${id}@example.com`}, ${role}, 'active',
              ${JSON.stringify(overrides)}::jsonb)`);
  }
  const digest = sql.binary(createHash('sha256').update(`ops_${id}`).digest());
  await db.query(sql.unsafe`
    INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role, member_id)
    VALUES (${newId('apiKey')}, ${workspaceId}, 'k', 'ops_', ${digest}, ${role}, ${member ? id : null})`);
  return { id, headers: { 'x-api-key': `ops_${id}` } };
}
