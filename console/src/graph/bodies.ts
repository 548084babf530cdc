import type { Graph } from '#shared/contract/workflows/graph.ts';
import { analyseLoops } from '#shared/graph/schedule/loops.ts';
import { linkGraph } from '#shared/graph/topology.ts';
import type { DrawnNode, Drawing } from './drawn.ts';
import type { Place, Places } from './places.ts';

/** The nodes that a loop or a map repeats. */
interface Body {
  head: DrawnNode;
  /** The ids of the nodes, including those of inner bodies. */
  members: ReadonlySet<string>;
}

const known = new WeakMap<Drawing, Body[]>();

/** The bodies of a drawing, outer before inner. */
export function bodiesOf(drawing: Drawing): Body[] {
  const bodies = known.get(drawing) ?? found(drawing);
  known.set(drawing, bodies);
  return bodies;
}

function found({ nodes, edges }: Drawing): Body[] {
  if (!nodes.some(({ kind }) => kind === 'loop' || kind === 'map')) return [];
  // The analysis reads only these fields.
  const graph = {
    nodes: nodes.map(({ id, kind }) => ({ id, kind })),
    edges: edges.map(({ source, target, conditionValue }) => ({
      source,
      target,
      condition_value: conditionValue,
    })),
  } as unknown as Graph;
  return analyseLoops(linkGraph(graph)).bodies.flatMap(({ loop, nodes: inside }) => {
    const head = nodes[loop];
    const members = new Set([...inside].flatMap((at) => nodes[at]?.id ?? []));
    return head === undefined || members.size === 0 ? [] : [{ head, members }];
  });
}

/** The frame around the body of a loop or a map, in graph coordinates. */
interface BodyFrame extends Place {
  /** The node of the loop or map. */
  id: string;
  label: string;
  kind: 'loop' | 'map';
  width: number;
  height: number;
}

/** The space between a frame and the cards in it, where edges pass. */
const PADDING = 30;
/** The additional space of a frame around another one. */
const LEVEL = 10;
/** The space above the edges over the cards, for the label. */
const HEAD = 32;
const MAX_LEVELS = 3;

type CardSize = { width: number; height: number };

/**
 * The frames of all bodies, outer before inner. A body whose cards have others between them gets no frame, because it
 * would also enclose nodes that are not repeated.
 */
export function framesOf(drawing: Drawing, places: Places, card: CardSize): BodyFrame[] {
  const bodies = bodiesOf(drawing);
  return bodies.flatMap(({ head, members }) => {
    const inside = [...members].flatMap((id) => places.get(id) ?? []);
    if (inside.length === 0) return [];
    const levels = bodies.filter((other) => members.has(other.head.id)).length;
    const around = Math.min(levels, MAX_LEVELS);
    const space = PADDING + LEVEL * around;
    const above = PADDING + HEAD * (around + 1);
    const xs = inside.map(({ x }) => x);
    const ys = inside.map(({ y }) => y);
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    const [right, bottom] = [Math.max(...xs), Math.max(...ys)];
    const stranger = [...places].some(
      ([id, { x, y }]) =>
        !members.has(id) &&
        x < right + card.width &&
        x + card.width > left &&
        y < bottom + card.height &&
        y + card.height > top,
    );
    if (stranger) return [];
    return [
      {
        id: head.id,
        label: head.label,
        kind: head.kind === 'map' ? 'map' : 'loop',
        x: left - space,
        y: top - above,
        width: right - left + card.width + 2 * space,
        height: bottom - top + card.height + above + space,
      },
    ];
  });
}
