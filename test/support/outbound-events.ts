import { z } from 'zod';
import { outboundEventTypes } from '#shared/contract/data/outbound.ts';
import { type Pool, sql } from '#shared/db/pool.ts';

interface Workspace {
  db: Pool;
  workspaceId: string;
}

/** Creates two endpoints that subscribe to every event, one for live data and one for demo data. */
export async function subscribeToAll({ db, workspaceId }: Workspace): Promise<void> {
  await db.query(sql.type(z.object({}))`
    INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret)
    SELECT 'end_' || is_demo, ${workspaceId}, is_demo, 'http://127.0.0.1:9/',
           ${sql.array([...outboundEventTypes], 'text')}, 'sealed'
    FROM unnest(ARRAY[true, false]) AS is_demo
  `);
}

const eventRow = z.object({ data: z.record(z.string(), z.unknown()) });

/** The data of all events of this type that have a delivery, oldest first. */
export async function outboundEventsOf(
  { db, workspaceId }: Workspace,
  type: string,
): Promise<Record<string, unknown>[]> {
  const rows = await db.any(sql.type(eventRow)`
    SELECT e.data FROM outbound_events e JOIN data_deliveries d ON d.event_id = e.id
    WHERE e.workspace_id = ${workspaceId} AND e.type = ${type} ORDER BY e.created_at, e.id
  `);
  return rows.map(({ data }) => data);
}
