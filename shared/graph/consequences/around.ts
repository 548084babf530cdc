import { outputKey } from '#shared/graph/compile.ts';
import type { KeyKnowledge, Knowledge } from '#shared/graph/dry-run/knowledge.ts';
import type { Layout } from '#shared/graph/dry-run/layout.ts';
import { callbacksOf } from '#shared/graph/waits/callbacks.ts';
import { isWaiting } from '#shared/graph/kinds.ts';
import { type RunState, scopeOf } from '#shared/graph/schedule/run-state.ts';

/**
 * What is known in a scope: in an item of a map, steps outside of it can still write what it reads. `hidden`: keys with
 * values that are not known here.
 */
export function knowledgeWithin(
  run: RunState,
  whole: Layout,
  { knowledge, hidden }: { knowledge: Knowledge; hidden: ReadonlySet<string> },
): Knowledge {
  const callbacks = callbacksOf(whole);
  if (run.item === undefined && hidden.size === 0) return { ...knowledge, callbacks };
  const around = writersAround(run, whole);
  const writes = (key: string): boolean => hidden.has(key) || around(key);
  const at = (node: number, key: string, apartFromItself?: boolean): KeyKnowledge => {
    const found = knowledge.at(node, key, apartFromItself);
    if (!found.known || !writes(key)) return found;
    return { known: false, present: found.value !== undefined, bytes: null };
  };
  return { at, callbacks, stateAt: () => undefined };
}

/** Whether a step in a scope around an item can still write a key that the item sees. */
function writersAround(run: RunState, whole: Layout): (key: string) => boolean {
  const hidden = new Set<string>();
  const keys = new Set<string>();
  const anyBut: ReadonlySet<string>[] = [];
  for (let scope = run; scope.item !== undefined; scope = scope.item.parent) {
    for (const key of Object.keys(scope.values)) hidden.add(key);
    const { parent, map } = scope.item;
    const writers = nodesOf(parent).filter((node) => canWrite(parent, whole, { map, node }));
    for (const node of writers) {
      const { nodes } = whole;
      for (const key of [outputKey(nodes[node]!), nodes[node]!.id]) {
        if (!hidden.has(key)) keys.add(key);
      }
      if (isWaiting(nodes[node]!)) anyBut.push(new Set(hidden));
    }
  }
  return (key) => keys.has(key) || anyBut.some((seen) => !seen.has(key));
}

const nodesOf = (run: RunState): number[] =>
  run.item === undefined
    ? run.graph.nodes.flatMap((_, node) => (isInMap(run, node) ? [] : [node]))
    : scopeOf(run, run.item.map);

function isInMap({ graph: { nodes, regions } }: RunState, node: number): boolean {
  for (let head = regions[node]!; head !== -1; head = regions[head]!) {
    if (nodes[head]!.kind === 'map') return true;
  }
  return false;
}

/** Whether a node can still write before the map ends. */
function canWrite(
  run: RunState,
  { around, inside, follows }: Layout,
  { map, node }: { map: number; node: number },
): boolean {
  if (node === map || follows.has(map, node) || inside.has(map, node)) return false;
  const hasEnded = (at: number): boolean => ['settled', 'skipped'].includes(run.phases[at]!);
  const heads = around[node]!;
  if (heads.some((head) => run.phases[head] === 'running' && !inside.has(map, head))) return true;
  return !hasEnded(node) && !heads.some(hasEnded);
}
