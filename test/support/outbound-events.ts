import { z } from 'zod';
import { outboundEventTypes } from '../../shared/contract/data/outbound.ts';
import { type Pool, sql } from '../../shared/db/pool.ts';

interface Place {
  db: Pool;
  workspaceId: string;
}

/** Two endpoints that hear of everything, one of what is real and one of what is made up. */
export async function subscribeToAll({ db, workspaceId }: Place): Promise<void> {
  await db.query(sql.type(z.object({}))`
    INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret)
    SELECT 'end_' || is_demo, ${workspaceId}, is_demo, 'http://127.0.0.1:9/',
           ${sql.array([...outboundEventTypes], 'text')}, 'sealed'
    FROM unnest(ARRAY[true, false]) AS is_demo
  `);
}

const told = z.object({ data: z.record(z.string(), z.unknown()) });

/** What the endpoints were promised to hear of this type, oldest first. */
export async function toldEvents(
  { db, workspaceId }: Place,
  type: string,
): Promise<Record<string, unknown>[]> {
  const rows = await db.any(sql.type(told)`
    SELECT e.data FROM outbound_events e JOIN data_deliveries d ON d.event_id = e.id
    WHERE e.workspace_id = ${workspaceId} AND e.type = ${type} ORDER BY e.created_at, e.id
  `);
  return rows.map(({ data }) => data);
}
