import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { keepRecord, parseRecord } from './records.ts';

/** `{feed_id, external_key, event_type, primary_external_key, ...}` to `{feed_id, external_key, result}`. */
export const createEventEmit =
  (db: Pool): NodeRunner<ToolNode> =>
  async ({ params, workspaceId }) => {
    const given = parseRecord('event_emit', 'event', params);
    const output = await keepRecord('event_emit', db, workspaceId, given);
    return { output, costMicros: 0 };
  };
