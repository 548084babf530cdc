import { type DataKeyInput, dataKeyInput } from '#shared/contract/data/key.ts';
import { dataScopeNames } from '#shared/contract/data/envelope.ts';
import { createDataKey } from '#shared/db/data/keys.ts';
import type { Pool } from '#shared/db/pool.ts';

/** Creates a key, by default live with all scopes. Returns it with its request headers. */
export async function addDataKey(
  { db, workspaceId }: { db: Pool; workspaceId: string },
  input: Partial<DataKeyInput> = {},
): Promise<{ id: string; secret: string; headers: Record<string, string> }> {
  const { id, secret } = await createDataKey(
    db,
    { workspaceId, id: null, name: null },
    dataKeyInput.parse({ name: 'Key', mode: 'live', scopes: dataScopeNames, ...input }),
  );
  return { id, secret, headers: { authorization: `Bearer ${secret}` } };
}
