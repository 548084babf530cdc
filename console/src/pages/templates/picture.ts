import type { Graph } from '#client/index.ts';
import { type Drawing, drawingOf, type DrawnNode } from '#console/src/graph/drawn.ts';
import { linesOf } from '#console/src/graph/node-lines.ts';

export interface Picture {
  /** The title says what a node does. */
  boxes: (Place & Pick<DrawnNode, 'id' | 'kind'> & { title: string })[];
  lines: { id: string; from: Place; to: Place }[];
  width: number;
  height: number;
}

interface Place {
  x: number;
  y: number;
}

/** The size of a box, in the units of node positions. */
export const box = { width: 200, height: 64 } as const;
const MARGIN = 12;
const COLUMN = 280;
const ROW = 120;

/** A graph as boxes, with lines between their centers, at the stored positions or else in columns. */
export function pictureOf(graph: Graph): Picture {
  const drawing = drawingOf(graph);
  const places = placesOf(drawing);
  const left = Math.min(...[...places.values()].map(({ x }) => x)) - MARGIN;
  const top = Math.min(...[...places.values()].map(({ y }) => y)) - MARGIN;
  const at = (id: string): Place => {
    const { x, y } = places.get(id) ?? { x: left, y: top };
    return { x: x - left, y: y - top };
  };
  const middle = ({ x, y }: Place): Place => ({ x: x + box.width / 2, y: y + box.height / 2 });
  const boxes = drawing.nodes.map((node) => {
    const { id, kind, label } = node;
    return { id, kind, title: `${label}\n${linesOf(node).title}`, ...at(id) };
  });
  return {
    boxes,
    lines: drawing.edges.map(({ id, source, target }) => ({
      id,
      from: middle(at(source)),
      to: middle(at(target)),
    })),
    width: Math.max(0, ...boxes.map(({ x }) => x + box.width)) + MARGIN,
    height: Math.max(0, ...boxes.map(({ y }) => y + box.height)) + MARGIN,
  };
}

function placesOf({ nodes, edges }: Drawing): Map<string, Place> {
  const given = nodes.flatMap(({ id, position }) =>
    position === undefined ? [] : [[id, position] as const],
  );
  if (given.length === nodes.length) return new Map(given);
  return inColumns({ nodes, edges });
}

/** Places each node in the column of its distance from the start. */
function inColumns({ nodes, edges }: Drawing): Map<string, Place> {
  const entered = new Set(edges.map(({ target }) => target));
  const starts = nodes.filter(({ id }) => !entered.has(id));
  const places = new Map<string, Place>();
  const left = new Set(nodes.map(({ id }) => id));
  let column = (starts.length > 0 ? starts : nodes.slice(0, 1)).map(({ id }) => id);
  for (let x = 0; left.size > 0; x += COLUMN) {
    // A node that is unreachable from the start gets its own column.
    const ids = column.length > 0 ? column : [...left].slice(0, 1);
    ids.forEach((id, row) => {
      places.set(id, { x, y: row * ROW });
      left.delete(id);
    });
    const next = edges.filter(({ source, target }) => ids.includes(source) && left.has(target));
    column = [...new Set(next.map(({ target }) => target))];
  }
  return places;
}
