import type { Json, JsonObject } from '#shared/json.ts';
import type { MapNode } from '#shared/contract/workflows/graph.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import { createItem, enter, note, writeOutput, type MapItems, type RunState } from './run-state.ts';
import { MAX_STEPS_IN_PLACE } from './rounds.ts';
import {
  entersOwnBody,
  evaluate,
  failInPlace,
  raise,
  settleAfterBody,
  settleEdge,
} from './settle.ts';

/** The maximum number of items of a map. */
export const MAX_MAP_ITEMS = 10_000;

const mapAt = (run: RunState, node: number): MapNode => run.graph.nodes[node] as MapNode;

export function beginMap(run: RunState, node: number): void {
  enter(run, node, 'running');
  note(run, node, 'running');
  const items = evaluate(run, node, mapAt(run, node).items);
  if (items === undefined) return;
  if (!Array.isArray(items)) {
    failInPlace(
      run,
      node,
      `items gives ${kindOf(items)}: change the expression so that it gives a list`,
    );
  } else if (items.length > MAX_MAP_ITEMS) {
    failInPlace(
      run,
      node,
      `items gives a list of ${items.length}: shorten it to at most ${MAX_MAP_ITEMS}, or split it over several maps`,
    );
  } else {
    run.maps.set(node, { items, outputs: [], begun: 0, active: new Map(), failed: undefined });
    beginItems(run, node);
  }
}

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Begins items up to the map's concurrency, and ends the map after the last one. */
export function beginItems(run: RunState, node: number): void {
  const map = run.maps.get(node);
  if (map === undefined) return;
  const { concurrency } = mapAt(run, node);
  while (map.active.size < concurrency && map.begun < map.items.length) {
    if (map.failed !== undefined || hasFailedItem(map)) break;
    if (run.shared.inPlace >= MAX_STEPS_IN_PLACE / 2) {
      run.shared.held.push({ run, node });
      return;
    }
    beginItem(run, node, map);
  }
  if (map.active.size === 0) endMap(run, node, map);
}

/** Whether an item failed without being caught. Then the run fails, and continues when that step is retried. */
function hasFailedItem(map: MapItems): boolean {
  for (const item of map.active.values()) if (item.failed > 0) return true;
  return false;
}

function beginItem(run: RunState, node: number, map: MapItems): void {
  const index = map.begun;
  map.begun += 1;
  map.outputs[index] = null;
  const item = createItem(run, node, index);
  map.active.set(index, item);
  item.shared.inPlace += 1;
  const own = { item: map.items[index]!, index };
  item.values[run.graph.nodes[node]!.id] = own;
  for (const edge of run.out[node]!) {
    if (edge.when === 'true' && entersOwnBody(run, edge)) settleEdge(item, edge, true, own);
  }
  if (run.members[node]!.length === 0) run.shared.queue.push({ run: item, node, what: 'item' });
}

/** Ends an item: all of its nodes are settled, or it was stopped and nothing in it is in flight. */
export function endItem(item: RunState): void {
  const { parent, map: node, index, error } = item.item!;
  const map = parent.maps.get(node);
  // It has already ended, or the item around it was stopped.
  if (map?.active.get(index) !== item || parent.item?.error !== undefined) return;
  map.active.delete(index);
  if (error === undefined) {
    map.outputs[index] = outputOf(item);
  } else if (mapAt(parent, node).on_item_error === 'collect') {
    map.outputs[index] = { error };
  } else if (map.failed === undefined || index < map.failed.index) {
    map.failed = { index, error };
  }
  beginItems(parent, node);
}

/** The output of the last node in the body. If several nodes lead back to the map, the outputs of those that did. */
function outputOf(item: RunState): Json {
  const { map, ends } = item.item!;
  const last = item.members[map]!.filter((node) =>
    item.out[node]!.some((edge) => edge.back === true && edge.to === map),
  );
  if (last.length === 1) return ends.get(last[0]!) ?? null;
  const given = [...ends].sort(([a], [b]) => a - b);
  const output: JsonObject = Object.fromEntries(
    given.map(([node, value]) => [item.graph.nodes[node]!.id, value]),
  );
  return output;
}

function endMap(run: RunState, node: number, { failed, outputs }: MapItems): void {
  run.maps.delete(node);
  if (failed !== undefined) {
    raise(run, node, childError(failed));
    return;
  }
  writeOutput(run, node, outputs);
  note(run, node, 'success', { output: outputs });
  settleAfterBody(run, node, outputs);
}

const childError = ({ index, error }: { index: number; error: CaughtError }): CaughtError => ({
  message: `Item ${index + 1} failed: ${error.message}`,
  kind: 'child',
  attempts: 1,
});
