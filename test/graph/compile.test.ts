import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { graphSchema, type Graph } from '#shared/contract/workflows/graph.ts';
import { compileGraph, GraphError } from '#shared/graph/compile.ts';
import { createScheduler } from '#shared/graph/schedule/scheduler.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { draw, resultOf } from './drawing.ts';
import { referenceRun } from './generated/reference.ts';
import type { World } from './generated/world.ts';

/** The loop that directly contains each node, by id. */
function regions(graph: Graph): Record<string, string> {
  const compiled = compileGraph(graph);
  return Object.fromEntries(
    compiled.regions.flatMap((loop, at) =>
      loop === -1 ? [] : [[compiled.nodes[at]!.id, compiled.nodes[loop]!.id]],
    ),
  );
}

function backEdges(graph: Graph): string[] {
  const { nodes, edges } = compileGraph(graph);
  return edges
    .filter((edge) => edge.back)
    .map((edge) => `${nodes[edge.from]!.id} -> ${nodes[edge.to]!.id}`);
}

describe('compiling', () => {
  test('sorts nodes topologically, and keeps their saved order where possible', () => {
    // z -> b -> a,  y -> a
    expect(compileGraph(draw('z -> b -> a\ny -> a')).nodes.map((node) => node.id)).toEqual([
      'z',
      'y',
      'b',
      'a',
    ]);
  });

  test('returns plain JSON', () => {
    const compiled = compileGraph(draw('s -> l -true-> a -> l -false-> e'));
    expect(JSON.parse(JSON.stringify(compiled))).toEqual(compiled);
  });

  test('finds the body and back edge of a loop', () => {
    // s -> l -true-> a -> b -> l -false-> e,  a -> d
    const graph = draw('s -> l -true-> a -> b -> l -false-> e\na -> d');
    expect(regions(graph)).toEqual({ a: 'l', b: 'l', d: 'l' });
    expect(backEdges(graph)).toEqual(['b -> l']);
  });

  test('assigns nodes to the innermost loop', () => {
    // l1 -true-> a -> l2 -true-> b -> l2 -> d -> l1 -> e
    const graph = draw('l1 -true-> a -> l2 -true-> b -> l2 -> d -> l1 -> e');
    expect(regions(graph)).toEqual({ a: 'l1', l2: 'l1', b: 'l2', d: 'l1' });
    expect(backEdges(graph)).toEqual(['b -> l2', 'd -> l1']);
  });

  test('accepts an inner loop whose exit returns to the outer loop', () => {
    // l1 -true-> l2 -true-> a -> l2 -> l1
    expect(backEdges(draw('l1 -true-> l2 -true-> a -> l2 -> l1'))).toEqual(['a -> l2', 'l2 -> l1']);
  });

  test.each<[string, Graph]>([
    ['without nodes', { nodes: [], edges: [] }],
    [
      'with an id twice',
      graphSchema.parse({
        nodes: [
          { id: 'a', kind: 'merge' },
          { id: 'a', kind: 'merge' },
        ],
      }),
    ],
    ['with an edge to nowhere', { ...draw('a -> b'), edges: [{ source: 'a', target: 'nobody' }] }],
    ['with a cycle', draw('a -> b -> a')],
    ['with a cycle by the exit of a loop', draw('l -> a -> l')],
    ['with an edge out of a body', draw('l -true-> a -> l -> e\na -> e')],
  ])('refuses a graph %s', (_, graph) => {
    expect(() => compileGraph(graph)).toThrow(GraphError);
  });
});

const scribble: fc.Arbitrary<Graph> = fc
  .record({
    kinds: fc.array(fc.constantFrom('agent', 'condition', 'loop', 'loop', 'merge'), {
      minLength: 1,
      maxLength: 7,
    }),
    edges: fc.array(
      fc.tuple(fc.nat(6), fc.nat(6), fc.constantFrom(undefined, 'true', 'true', 'false')),
      { maxLength: 12 },
    ),
  })
  .map(({ kinds, edges }) => {
    const nodes = kinds.map((kind, at) => {
      const id = `n${at}`;
      if (kind === 'loop') return { id, kind, expression: `${id}.iterations < 2` };
      return kind === 'condition'
        ? { id, kind, expression: at % 2 === 0 ? 'true' : 'false' }
        : { id, kind };
    });
    const drawn = edges
      .filter(([from, to]) => from < kinds.length && to < kinds.length)
      .map(([from, to, when]) => ({
        source: `n${from}`,
        target: `n${to}`,
        ...(when && { condition_value: when }),
      }));
    const once = [...new Map(drawn.map((edge) => [JSON.stringify(edge), edge])).values()];
    return graphSchema.parse({ nodes, edges: once });
  });

/** A world in which every step succeeds. */
const calm: World = {
  failingAttempts: () => 0,
  result: (_, stepKey) => stepKey,
  gate: () => ({ approved: true }),
};

describe('random graphs', () => {
  test('compile if and only if valid, and then run like the reference', () => {
    let compiledOnes = 0;
    fc.assert(
      fc.property(scribble, (graph) => {
        const { valid } = checkGraph(graph, { tools: new Set(), customTools: new Map() });
        if (!valid) {
          expect(() => compileGraph(graph)).toThrow(GraphError);
          return;
        }
        compiledOnes += 1;
        const scheduler = createScheduler(compileGraph(graph), {});
        for (
          let [next] = scheduler.takeReady(1);
          next !== undefined;
          [next] = scheduler.takeReady(1)
        ) {
          scheduler.complete(next.step_key, next.step_key);
        }
        const { state, output } = referenceRun(graph, {}, calm);
        expect(scheduler.done).toBe(true);
        expect(resultOf(scheduler)).toEqual({ state, output });
      }),
      { numRuns: 3000 },
    );
    expect(compiledOnes).toBeGreaterThan(300);
  });
});
