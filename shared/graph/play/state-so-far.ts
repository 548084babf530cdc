import { type CompiledGraph, outputKey } from '#shared/graph/compile.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Playing } from './playing.ts';

/**
 * The state in the record of a run that has not succeeded: its input, overwritten by finished outputs and caught errors
 * in the order in which they came. Loops in progress are not in it.
 */
export function stateSoFar({ input, graph, scheduler, book }: Playing): JsonObject {
  const state = structuredClone(input);
  for (const step of book.ended) {
    const { node_id, kind, status, output, error, error_kind: errorKind, attempt } = step;
    if (step.parent_step_key !== undefined || isInItem(graph, node_id)) continue;
    if (step.caught === true) {
      const caught = { message: error, kind: errorKind ?? 'node', attempts: attempt };
      state[node_id] = { error: caught };
      continue;
    }
    if (status !== 'success') continue;
    const key = outputKey(scheduler.node(step.step_key));
    if (kind === 'human_gate') {
      const { approved, input: given = {} } = output as { approved: Json; input?: JsonObject };
      Object.assign(state, given, { [key]: { approved } });
    } else state[key] = output;
  }
  return state;
}

/** What the items of a map write is not in the state around it. */
function isInItem({ nodes, regions }: CompiledGraph, id: string): boolean {
  let head = regions[nodes.findIndex((node) => node.id === id)]!;
  while (head !== -1 && nodes[head]!.kind !== 'map') head = regions[head]!;
  return head !== -1;
}
