import { z } from 'zod';
import type { OutboundEventType } from '../../contract/data/outbound.ts';
import type { JsonObject } from '../../json.ts';
import { newId } from '../../platform/ids.ts';
import { type Db, sql } from '../pool.ts';

/** Something that happened, for the webhook endpoints of a workspace that want to hear of it. */
export interface OutboundEvent {
  type: OutboundEventType;
  /** Endpoints of test keys hear of what is made up, those of live keys of what is real; null: both hear of it. */
  isDemo: boolean | null;
  data: JsonObject;
}

/**
 * Promises what happened to every endpoint that subscribes to it, in the transaction in which it happens. Nothing is
 * written of what no endpoint wants to hear. Returns the number of deliveries.
 */
export async function promiseEvents(
  db: Db,
  workspaceId: string,
  events: readonly OutboundEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  const rows = events.map(({ type, isDemo, data }) => ({
    id: newId('outboundEvent'),
    type,
    is_demo: isDemo,
    data,
  }));
  const { deliveries } = await db.one(sql.prepared(
    'outbound_promise',
    z.object({ deliveries: z.number() }),
  )`
    WITH happened AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS e (id text, type text, is_demo boolean, data json)
    ), wanted AS MATERIALIZED (
      SELECT h.id, h.type, h.data, p.id AS endpoint_id
      FROM happened h
      JOIN data_endpoints p ON p.workspace_id = ${workspaceId} AND h.type = ANY (p.events)
        AND (h.is_demo IS NULL OR p.is_demo = h.is_demo)
    ), told AS (
      INSERT INTO outbound_events (id, workspace_id, type, data)
      SELECT DISTINCT ON (id) id, ${workspaceId}, type, data FROM wanted
    ), promised AS (
      INSERT INTO data_deliveries (id, workspace_id, endpoint_id, event_id)
      SELECT 'dlv_' || substr(id, 6) || '_' || row_number() OVER (PARTITION BY id ORDER BY endpoint_id),
             ${workspaceId}, endpoint_id, id
      FROM wanted
      RETURNING 1
    )
    SELECT count(*) AS deliveries FROM promised
  `);
  return deliveries;
}
