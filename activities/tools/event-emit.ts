import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { keepRecord, parseRecord, type RecordDeps } from './records.ts';

/** `{feed_id, external_key, event_type, primary_external_key, ...}` to `{feed_id, external_key, result}`. */
export const createEventEmit =
  (deps: RecordDeps): NodeRunner<ToolNode> =>
  async ({ params, workspaceId, runId }) => {
    const given = parseRecord('event_emit', 'event', params);
    const output = await keepRecord('event_emit', deps, { workspaceId, runId }, given);
    return { output, costMicros: 0 };
  };
