import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { keepRecord, parseRecord } from './records.ts';

/** `{feed_id, external_key, entity_type, canonical_name, attributes, ...}` to `{feed_id, external_key, result}`. */
export const createEntityUpsert =
  (db: Pool): NodeRunner<ToolNode> =>
  async ({ params, workspaceId }) => {
    const given = parseRecord('entity_upsert', 'entity', params);
    const output = await keepRecord('entity_upsert', db, workspaceId, given);
    return { output, costMicros: 0 };
  };
