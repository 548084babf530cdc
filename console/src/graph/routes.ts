import type { DrawnEdge } from './drawn.ts';
import { type Box, createObstacles, type Obstacles, type Point } from './obstacles.ts';

export type RoutedEdge = Pick<DrawnEdge, 'id' | 'source' | 'target' | 'conditionValue'>;

/** The path of an edge: horizontal and vertical lines from the source's right to the target's left. */
export interface Route {
  points: Point[];
  /** The middle of a label: below the first line, where the name of the port is above it, or above another line. */
  label: Point & { side: 'above' | 'below' };
}

/** Where an edge leaves its card: 0 is the top, 1 the bottom. */
export type ExitOf = (edge: RoutedEdge) => number;

const inTheMiddle: ExitOf = () => 0.5;

/** Distance between edges and cards. */
const CLEARANCE = 18;
/** Distance between the points where edges from the same node reach a card. */
const APART = 16;
/** The maximum number of lanes tried per edge. More would make the routing of a thousand nodes noticeably slow. */
const MOST_LANES = 60;
/** Without a shift, edges in the same lane would overlap. The distance from a card stays between 10 and 26. */
const SHIFTS = [0, 4, -4, 8, -8] as const;
/** Edges between cards at nearly the same height are straight, because a smaller step would look like a mistake. */
const STRAIGHT_PX = 10;

/**
 * Routes each edge around the cards: edges back to earlier nodes are visible, edges between the same two nodes are
 * apart, and an edge only runs behind a card if there is no way around it.
 */
export function routesOf(
  edges: readonly RoutedEdge[],
  places: ReadonlyMap<string, Point>,
  size: { width: number; height: number },
  exitOf: ExitOf = inTheMiddle,
): Map<string, Route> {
  const boxes = new Map(
    [...places].map(([id, { x, y }]): [string, Box] => [
      id,
      { left: x, right: x + size.width, top: y, bottom: y + size.height },
    ]),
  );
  const obstacles = createObstacles([...boxes.values()], CLEARANCE);
  const arriving = entriesOf(edges, boxes);
  const routes = new Map<string, Route>();
  edges.forEach((edge, index) => {
    const source = boxes.get(edge.source);
    const target = boxes.get(edge.target);
    if (source === undefined || target === undefined) return;
    const from = { x: source.right, y: source.top + exitOf(edge) * size.height };
    const to = { x: target.left, y: centreOf(target) + (arriving.get(edge.id) ?? 0) };
    if (from.x < to.x && Math.abs(from.y - to.y) <= STRAIGHT_PX) to.y = from.y;
    const points = simplified(wayBetween(from, to, obstacles, SHIFTS[index % SHIFTS.length]!));
    routes.set(edge.id, { points, label: labelOn(points) });
  });
  return routes;
}

/** The middle of the longest horizontal line. */
function labelOn(points: readonly Point[]): Route['label'] {
  let best: Route['label'] = { x: 0, y: 0, side: 'below' };
  let longest = -1;
  points.slice(1).forEach((to, index) => {
    const from = points[index]!;
    const length = Math.abs(to.x - from.x);
    // Of two such lines, the one that is farther from the port.
    if (from.y !== to.y || length < longest) return;
    longest = length;
    best = { x: (from.x + to.x) / 2, y: to.y, side: index === 0 ? 'below' : 'above' };
  });
  return best;
}

const centreOf = (box: Box | undefined): number =>
  box === undefined ? 0 : (box.top + box.bottom) / 2;

/** How far from the middle of its card each edge arrives, by edge id. Edges of one group arrive at the same point. */
function entriesOf(
  edges: readonly RoutedEdge[],
  boxes: ReadonlyMap<string, Box>,
): Map<string, number> {
  const byNode = new Map<string, Map<string, RoutedEdge[]>>();
  const twinOf = twinsOf(edges);
  for (const edge of edges) {
    const groups = byNode.get(edge.target) ?? new Map<string, RoutedEdge[]>();
    byNode.set(edge.target, groups);
    const group = twinOf(edge);
    groups.set(group, [...(groups.get(group) ?? []), edge]);
  }
  const entries = new Map<string, number>();
  for (const groups of byNode.values()) {
    const heightOf = (group: readonly RoutedEdge[]): number =>
      group.reduce((sum, edge) => sum + centreOf(boxes.get(edge.source)), 0) / group.length;
    [...groups.values()]
      .sort((a, b) => heightOf(a) - heightOf(b))
      .forEach((group, place) => {
        for (const { id } of group) entries.set(id, (place - (groups.size - 1) / 2) * APART);
      });
  }
  return entries;
}

/** Edges reach a card at one point, except edges from the same node: each of these has its own point. */
function twinsOf(edges: readonly RoutedEdge[]): (edge: RoutedEdge) => string {
  const keyOf = ({ source, target }: RoutedEdge): string => JSON.stringify([source, target]);
  const byEnds = new Map<string, RoutedEdge[]>();
  for (const edge of edges) byEnds.set(keyOf(edge), [...(byEnds.get(keyOf(edge)) ?? []), edge]);
  return (edge) => {
    const twins = byEnds.get(keyOf(edge)) ?? [];
    return twins.length < 2 ? '' : String(twins.indexOf(edge));
  };
}

/** The shortest path that crosses no card, or else the one that crosses the fewest. */
function wayBetween(from: Point, to: Point, obstacles: Obstacles, shift: number): Point[] {
  const out = from.x + CLEARANCE + shift;
  const back = to.x - CLEARANCE - shift;
  const direct =
    out <= back
      ? [(from.x + to.x) / 2, out, back].map((x) => [from, { x, y: from.y }, { x, y: to.y }, to])
      : [];
  let best: { way: Point[]; crossed: number } | undefined;
  // Shorter paths come first.
  for (const way of ways()) {
    const crossed = obstacles.crossings(way, best?.crossed ?? Infinity);
    if (best === undefined || crossed < best.crossed) best = { way, crossed };
    if (crossed === 0) break;
  }
  return best?.way ?? [from, to];

  function* ways(): Generator<Point[]> {
    yield* direct;
    for (const lane of obstacles.lanesNear(from.y, to.y, MOST_LANES)) {
      const y = lane.y + lane.away * shift;
      yield [from, { x: out, y: from.y }, { x: out, y }, { x: back, y }, { x: back, y: to.y }, to];
    }
  }
}

function lengthOf(way: readonly Point[]): number {
  let length = 0;
  for (const [index, point] of way.entries()) {
    const before = way[index - 1];
    if (before !== undefined) length += Math.abs(point.x - before.x) + Math.abs(point.y - before.y);
  }
  return length;
}

/** Removes points in the middle of a straight line. */
function simplified(points: readonly Point[]): Point[] {
  return points.filter((point, index) => {
    const before = points[index - 1];
    const after = points[index + 1];
    if (before === undefined || after === undefined) return true;
    const straight =
      (before.x === point.x && point.x === after.x) ||
      (before.y === point.y && point.y === after.y);
    return !straight;
  });
}

const CORNER = 8;

/** The route as the `d` of an SVG path, with rounded corners. */
export function pathOf(points: readonly Point[]): string {
  const parts: string[] = [];
  points.forEach((point, index) => {
    const before = points[index - 1];
    const after = points[index + 1];
    if (before === undefined) parts.push(`M ${point.x} ${point.y}`);
    else if (after === undefined) parts.push(`L ${point.x} ${point.y}`);
    else {
      const enter = towards(point, before);
      const leave = towards(point, after);
      parts.push(`L ${enter.x} ${enter.y} Q ${point.x} ${point.y} ${leave.x} ${leave.y}`);
    }
  });
  return parts.join(' ');
}

/** The point at a short distance from the corner toward the other point, at most halfway. */
function towards(corner: Point, other: Point): Point {
  const dx = other.x - corner.x;
  const dy = other.y - corner.y;
  const length = Math.abs(dx) + Math.abs(dy);
  const share = length === 0 ? 0 : Math.min(CORNER, length / 2) / length;
  return { x: corner.x + dx * share, y: corner.y + dy * share };
}

/** The point halfway along a route. */
export function middleOf(points: readonly Point[]): Point {
  let left = lengthOf(points) / 2;
  for (const [index, to] of points.entries()) {
    const from = points[index - 1];
    if (from === undefined) continue;
    const length = Math.abs(to.x - from.x) + Math.abs(to.y - from.y);
    if (length >= left && length > 0) {
      const part = left / length;
      return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
    }
    left -= length;
  }
  return points.at(-1) ?? { x: 0, y: 0 };
}
