import { describe, expect, test } from '@jest/globals';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { readableKeys } from '#shared/graph/validate/readable-keys.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { draw } from './drawing.ts';

const keysAt = (graph: Graph, node: string): string[] =>
  readableKeys(graph, node)
    .map(({ key }) => key)
    .sort();

describe('the keys that a node can read', () => {
  test('are those of the nodes before it, and not of later or parallel nodes', () => {
    const graph = draw('a -> b -> d\na -> e', { b: { output_key: 'text' } });
    expect(keysAt(graph, 'a')).toEqual([]);
    expect(keysAt(graph, 'd')).toEqual(['a', 'text']);
    expect(keysAt(graph, 'e')).toEqual(['a']);
    expect(readableKeys(graph, 'd').find(({ key }) => key === 'text')).toEqual({
      key: 'text',
      nodes: ['b'],
    });
  });

  test('include those of earlier iterations of a loop', () => {
    // l -true-> a -> b -> l -> e
    const graph = draw('l -true-> a -> b -> l -> e', { l: { expression: 'true' } });
    expect(keysAt(graph, 'a')).toEqual(['a', 'b', 'l']);
    expect(keysAt(graph, 'l')).toEqual(['a', 'b', 'l']);
  });

  test('include the item of a map in its body, and after the map only its list', () => {
    const graph = draw('p -true-> a -> p -> e', { p: { items: 'lines', output_key: 'all' } });
    expect(keysAt(graph, 'a')).toEqual(['p']);
    expect(keysAt(graph, 'e')).toEqual(['all']);
  });

  test('are empty in a graph that has no order', () => {
    expect(keysAt(draw('a -> b -> a'), 'b')).toEqual([]);
    expect(keysAt(draw('a -> b'), 'nobody')).toEqual([]);
  });

  test('are known with the position of their first use', () => {
    const graph = draw('draft -> b -> c -true-> e', {
      b: { prompt: 'Improve {drfat} and {drfat.text}' },
      c: { expression: "len(default(draft, '')) > 3 and drafr" },
    });
    const context = { tools: new Set<string>(), customTools: new Map(), inputKeys: [] };
    const { warnings } = checkGraph(graph, context);
    expect(warnings.filter(({ code }) => code === 'key_not_set')).toEqual([
      expect.objectContaining({ path: 'nodes[1].prompt', position: 9 }),
      expect.objectContaining({ path: 'nodes[2].expression', position: 32 }),
    ]);
  });
});
