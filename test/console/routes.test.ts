import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { framesOf } from '#console/src/graph/bodies.ts';
import type { Drawing } from '#console/src/graph/drawn.ts';
import type { Point } from '#console/src/graph/obstacles.ts';
import { pathOf, type RoutedEdge, routesOf } from '#console/src/graph/routes.ts';

const size = { width: 200, height: 76 };
const boxAt = ({ x, y }: Point) => ({
  left: x,
  right: x + size.width,
  top: y,
  bottom: y + size.height,
});
/** The number of cards that a path crosses. */
const crossingsOf = (way: readonly Point[], boxes: readonly ReturnType<typeof boxAt>[]): number =>
  boxes.filter((box) =>
    way.some((to, index) => {
      const from = way[index - 1];
      return (
        from !== undefined &&
        Math.min(from.x, to.x) < box.right &&
        Math.max(from.x, to.x) > box.left &&
        Math.min(from.y, to.y) < box.bottom &&
        Math.max(from.y, to.y) > box.top
      );
    }),
  ).length;
const edge = (id: string, source: string, target: string, conditionValue?: 'true' | 'false') => ({
  id,
  source,
  target,
  conditionValue,
});

describe('edge routes', () => {
  //   a ──► b ──► c      and a ──► c, past b
  const row = new Map([
    ['a', { x: 0, y: 0 }],
    ['b', { x: 300, y: 0 }],
    ['c', { x: 600, y: 0 }],
  ]);
  const boxes = [...row.values()].map(boxAt);

  test('avoid the nodes between their ends', () => {
    const routes = routesOf(
      [edge('ab', 'a', 'b'), edge('bc', 'b', 'c'), edge('ac', 'a', 'c')],
      row,
      size,
    );
    for (const { points } of routes.values()) expect(crossingsOf(points, boxes)).toBe(0);
  });

  test('leave a backward edge visible, around the nodes from right to left', () => {
    const { points } = routesOf([edge('ca', 'c', 'a')], row, size).get('ca')!;
    expect(points[0]).toEqual({ x: 800, y: 38 });
    expect(points.at(-1)).toEqual({ x: 0, y: 38 });
    expect(crossingsOf(points, boxes)).toBe(0);
    expect(points.some(({ y }) => y < 0 || y > size.height)).toBe(true);
  });

  test('leave each port of a card at its height', () => {
    const edges = [edge('true', 'a', 'b', 'true'), edge('false', 'a', 'b', 'false')];
    const exitOf = ({ conditionValue }: RoutedEdge) => (conditionValue === 'true' ? 0.25 : 0.75);
    const routes = routesOf(edges, row, size, exitOf);
    expect(routes.get('true')!.points[0]!.y).toBe(size.height * 0.25);
    expect(routes.get('false')!.points[0]!.y).toBe(size.height * 0.75);
    expect(routes.get('true')!.points.at(-1)).not.toEqual(routes.get('false')!.points.at(-1));
  });

  test('have their label below a first line, which has the name of its port above it, and above others', () => {
    const routes = routesOf([edge('ab', 'a', 'b'), edge('ca', 'c', 'a')], row, size);
    expect(routes.get('ab')!.label).toEqual({ x: 250, y: 38, side: 'below' });
    expect(routes.get('ca')!.label).toMatchObject({ x: 400, side: 'above' });
  });

  test('have only horizontal and vertical lines, from the right of the source to the left of the target', () => {
    const place = fc.record({
      x: fc.integer({ min: 0, max: 8 }).map((column) => column * 260),
      y: fc.integer({ min: 0, max: 8 }).map((line) => line * 120),
    });
    const drawing = fc.record({
      places: fc.uniqueArray(place, {
        minLength: 2,
        maxLength: 12,
        selector: ({ x, y }) => `${x}/${y}`,
      }),
      ends: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 20 }),
    });
    fc.assert(
      fc.property(drawing, ({ places, ends }) => {
        const at = new Map(places.map((one, index) => [String(index), one]));
        const edges = ends
          .filter(([from, to]) => at.has(String(from)) && at.has(String(to)) && from !== to)
          .map(([from, to], index) => edge(String(index), String(from), String(to)));
        const routes = routesOf(edges, at, size);
        expect(routes.size).toBe(edges.length);
        for (const { id, source, target } of edges) {
          const { points } = routes.get(id)!;
          expect(points[0]!.x).toBe(at.get(source)!.x + size.width);
          expect(points.at(-1)!.x).toBe(at.get(target)!.x);
          points.slice(1).forEach((point, index) => {
            const before = points[index]!;
            expect(point.x === before.x || point.y === before.y).toBe(true);
          });
          // On a grid with space between its cards, a route without crossings always exists.
          expect(crossingsOf(points, places.map(boxAt))).toBe(0);
        }
      }),
      { numRuns: 200 },
    );
  });

  test('also avoid the nodes of a large graph', () => {
    const places = Array.from({ length: 1_000 }, (_, index) => ({
      x: (index % 40) * 260,
      y: Math.floor(index / 40) * 120,
    }));
    const at = new Map(places.map((place, index) => [`n${index}`, place]));
    const edges = Array.from({ length: 5_000 }, (_, index) =>
      edge(String(index), `n${index % 1_000}`, `n${(index * 7 + 1) % 1_000}`),
    );
    const routes = routesOf(edges, at, size);
    expect(routes.size).toBe(5_000);
    const boxes = places.map(boxAt);
    const behind = edges.filter(({ id }) => crossingsOf(routes.get(id)!.points, boxes) > 0);
    expect(behind).toEqual([]);
  });

  test('keep a distance from the cards they pass, and have no step between cards at the same height', () => {
    const close = new Map([
      ...row,
      ['over', { x: 300, y: -(size.height + 36) }],
      ['under', { x: 300, y: size.height + 36 }],
    ]);
    const edges: RoutedEdge[] = [
      ...Array.from({ length: 10 }, (_, index) => edge(`ca${index}`, 'c', 'a')),
      edge('true', 'a', 'b', 'true'),
      edge('false', 'a', 'under', 'false'),
    ];
    const routes = routesOf(edges, close, size);
    const wide = [...close.values()].map(boxAt).map((box) => ({
      ...{ left: box.left, right: box.right, top: box.top - 9, bottom: box.bottom + 9 },
    }));
    for (const { id } of edges.filter(({ source }) => source === 'c')) {
      // Without its ends, which touch their cards.
      expect(crossingsOf(routes.get(id)!.points.slice(1, -1), wide)).toBe(0);
    }
    expect(routes.get('true')!.points).toHaveLength(2);
  });

  test('have rounded corners and keep their ends', () => {
    const path = pathOf([
      { x: 0, y: 0 },
      { x: 50, y: 0 },
      { x: 50, y: 100 },
      { x: 100, y: 100 },
    ]);
    expect(path).toBe('M 0 0 L 42 0 Q 50 0 50 8 L 50 92 Q 50 100 58 100 L 100 100');
  });
});

describe('frames of bodies', () => {
  const node = (id: string, kind = 'agent') => ({
    id,
    kind,
    label: id,
    position: undefined,
    node: {},
  });
  const drawn = (source: string, target: string, conditionValue?: string) => ({
    ...{ id: `${source}>${target}`, source, target, conditionValue, at: 0 },
  });
  /** each -> (check -> again -> (write) -> each), and after them sum. */
  const drawing = {
    nodes: [node('each', 'map'), node('check'), node('again', 'loop'), node('write'), node('sum')],
    edges: [
      drawn('each', 'check', 'true'),
      drawn('check', 'again'),
      drawn('again', 'write', 'true'),
      drawn('write', 'again'),
      drawn('again', 'each', 'false'),
      drawn('each', 'sum', 'false'),
    ],
  } as unknown as Drawing;
  const card = { width: 200, height: 80 };
  const at = (sum: { x: number; y: number }) =>
    new Map([
      ['each', { x: 0, y: 0 }],
      ['check', { x: 300, y: 0 }],
      ['again', { x: 600, y: 0 }],
      ['write', { x: 900, y: 0 }],
      ['sum', sum],
    ]);

  test('surround what is repeated, the outer one with room for the inner one', () => {
    const [outer, inner, ...others] = framesOf(drawing, at({ x: 300, y: 300 }), card);
    expect(others).toEqual([]);
    expect([outer, inner]).toMatchObject([
      { id: 'each', kind: 'map', label: 'each' },
      { id: 'again', kind: 'loop' },
    ]);
    expect(outer!.x).toBeLessThan(300);
    expect(outer!.x).toBeGreaterThan(200);
    expect(outer!.y).toBeLessThan(inner!.y);
    expect(outer!.x + outer!.width).toBeGreaterThan(inner!.x + inner!.width);
    expect(inner!.x).toBeLessThan(900);
    expect(inner!.x).toBeGreaterThan(800);
  });

  test('are left out if another card is among the repeated ones', () => {
    const frames = framesOf(drawing, at({ x: 450, y: 20 }), card);
    expect(frames.map(({ id }) => id)).toEqual(['again']);
  });

  test('do not exist without a loop', () => {
    expect(
      framesOf({ nodes: [node('a')], edges: [] } as unknown as Drawing, at({ x: 0, y: 0 }), card),
    ).toEqual([]);
  });
});
