export interface Point {
  x: number;
  y: number;
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** A horizontal line along the edges of cards, where routes pass. */
interface Lane {
  y: number;
  /** -1 above the card that the lane belongs to, 1 below it: the direction away from the card. */
  away: -1 | 1;
}

/** The cards that routes avoid. */
export interface Obstacles {
  /** How often a path crosses a card; counted up to `most`. */
  crossings: (way: readonly Point[], most: number) => number;
  /**
   * At most `most` lanes: first those with the shortest detour between the two heights, then the two outermost ones.
   */
  lanesNear: (fromY: number, toY: number, most: number) => Generator<Lane>;
}

/**
 * Sorts the cards, so that each line is only compared with nearby cards and graphs of a thousand nodes are routed
 * without blocking the page. All cards have the same size. `clearance` is the distance of lanes from their cards.
 */
export function createObstacles(boxes: readonly Box[], clearance: number): Obstacles {
  const byLeft = boxes.toSorted((a, b) => a.left - b.left);
  const byTop = boxes.toSorted((a, b) => a.top - b.top);
  const lanes = lanesOf(boxes, clearance);
  return {
    crossings: (way, most) => {
      let crossed = 0;
      for (let at = 1; at < way.length && crossed <= most; at += 1) {
        const [from, to] = [way[at - 1]!, way[at]!];
        crossed +=
          from.x === to.x
            ? crossedBy(from, to, byLeft, { start: 'left', end: 'right', axis: 'x' })
            : crossedBy(from, to, byTop, { start: 'top', end: 'bottom', axis: 'y' });
      }
      return crossed;
    },
    lanesNear: (fromY, toY, most) => nearest(lanes, fromY, toY, most),
  };
}

/** The lanes above and below all cards, from top to bottom. Cards at the same height share theirs. */
function lanesOf(boxes: readonly Box[], clearance: number): Lane[] {
  const above = new Set(boxes.map(({ top }) => top - clearance));
  const below = new Set(boxes.map(({ bottom }) => bottom + clearance));
  return [
    ...[...above].map((y): Lane => ({ y, away: -1 })),
    ...[...below].map((y): Lane => ({ y, away: 1 })),
  ].sort((a, b) => a.y - b.y);
}

/** The number of cards that a line crosses. The cards are sorted by their start on the axis across the line. */
function crossedBy(
  from: Point,
  to: Point,
  boxes: readonly Box[],
  { start, end, axis }: { start: 'left' | 'top'; end: 'right' | 'bottom'; axis: 'x' | 'y' },
): number {
  const any = boxes[0];
  if (any === undefined) return 0;
  const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
  const earliest = from[axis] - (any[end] - any[start]);
  let crossed = 0;
  for (
    let at = firstAtLeast(boxes.length, (index) => boxes[index]![start], earliest);
    at < boxes.length && boxes[at]![start] < from[axis];
    at += 1
  ) {
    const box = boxes[at]!;
    if (left < box.right && right > box.left && top < box.bottom && bottom > box.top) crossed += 1;
  }
  return crossed;
}

function* nearest(
  lanes: readonly Lane[],
  fromY: number,
  toY: number,
  most: number,
): Generator<Lane> {
  const [low, high] = [Math.min(fromY, toY), Math.max(fromY, toY)];
  let next = firstAtLeast(lanes.length, (at) => lanes[at]!.y, low);
  let before = next - 1;
  for (let count = 0; count < most; count += 1) {
    const [above, below] = [lanes[before], lanes[next]];
    const detourAbove = above === undefined ? Infinity : low - above.y;
    const detourBelow = below === undefined ? Infinity : Math.max(0, below.y - high);
    if (below !== undefined && detourBelow <= detourAbove) {
      yield below;
      next += 1;
    } else if (above !== undefined) {
      yield above;
      before -= 1;
    } else return;
  }
  for (const lane of [lanes[0], lanes.at(-1)]) if (lane !== undefined) yield lane;
}

/** The first index whose value is at least `least`, by binary search; `length` if there is none. */
function firstAtLeast(length: number, valueAt: (at: number) => number, least: number): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (valueAt(middle) < least) from = middle + 1;
    else to = middle;
  }
  return from;
}
