import type { Graph } from '#client/index.ts';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import { isRecord } from '#console/src/parts/data/record.ts';

/** The ID of a node that is not validated. */
export const idOf = (node: unknown): unknown => (isRecord(node) ? node['id'] : undefined);

/** An unused node ID: the kind and a number. */
export function freeId(graph: Graph, kind: NodeKind): string {
  const stem = kind === 'human_gate' ? 'gate' : kind;
  return numbered(stem, new Set(graph.nodes.map(idOf)), 1);
}

/** An unused ID for a copy of a node, which is then added to `taken`: the same ID with the next unused number. */
export function freeIdLike(id: string, taken: Set<unknown>): string {
  const [, stem = id, number] = /^(.*?)_(\d{1,6})$/.exec(id) ?? [];
  const free = taken.has(id) ? numbered(stem, taken, Number(number ?? 1) + 1) : id;
  taken.add(free);
  return free;
}

function numbered(stem: string, taken: ReadonlySet<unknown>, first: number): string {
  for (let number = first; ; number += 1) {
    const id = `${stem}_${number}`;
    if (!taken.has(id)) return id;
  }
}
