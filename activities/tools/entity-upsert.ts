import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { keepRecord, parseRecord, type RecordDeps } from './records.ts';

/** `{feed_id, external_key, entity_type, canonical_name, attributes, ...}` to `{feed_id, external_key, result}`. */
export const createEntityUpsert =
  (deps: RecordDeps): NodeRunner<ToolNode> =>
  async ({ params, workspaceId, runId }) => {
    const given = parseRecord('entity_upsert', 'entity', params);
    const output = await keepRecord('entity_upsert', deps, { workspaceId, runId }, given);
    return { output, costMicros: 0 };
  };
