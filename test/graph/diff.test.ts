import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { utf8Bytes } from '#shared/values/canonical-json.ts';
import { canonicalJson, diffGraphs } from '#shared/graph/diff.ts';
import type { Json } from '#shared/json.ts';

const nothing = { added: [], removed: [], changed: [] };

describe('canonical JSON', () => {
  test('ignores the order of keys but not of lists', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: true })).toBe(
      '{"a":true,"b":[1,{"c":"x","d":null}]}',
    );
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
  });

  test('parses to the same value, at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalJson(JSON.parse(text))).toBe(text);
      }),
    );
    let deep: Json = [];
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect(canonicalJson(deep)).toHaveLength(200_002);
  });

  test('is measured in UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(utf8Bytes(text)).toBe(Buffer.byteLength(text));
      }),
    );
  });
});

describe('differences', () => {
  test('name parts by ID and changes by path', () => {
    const from = {
      nodes: [
        { id: 'a', kind: 'agent', prompt: 'old', retry: { max_attempts: 1 } },
        { id: 'b', kind: 'tool', params: { urls: ['x', 'y'], same: 1 } },
        { id: 'gone', kind: 'merge' },
      ],
      edges: [
        { source: 'a', target: 'b' },
        { id: 'e1', source: 'b', target: 'gone' },
      ],
    };
    const to = {
      nodes: [
        { id: 'b', kind: 'tool', params: { same: 1, urls: ['x', 'z', 'w'] } },
        { id: 'a', retry: { max_attempts: 2 }, kind: 'agent', label: 'A' },
        { id: 'fresh', kind: 'merge' },
      ],
      edges: [
        { id: 'e1', source: 'b', target: 'fresh' },
        { source: 'a', target: 'b', condition_value: 'true' },
      ],
    };
    expect(diffGraphs(from, to)).toEqual({
      nodes: {
        added: [{ id: 'fresh', kind: 'merge' }],
        removed: [{ id: 'gone', kind: 'merge' }],
        changed: [
          { id: 'b', paths: ['params.urls[1]', 'params.urls[2]'] },
          { id: 'a', paths: ['label', 'prompt', 'retry.max_attempts'] },
        ],
      },
      edges: {
        added: [{ source: 'a', target: 'b', condition_value: 'true' }],
        removed: [{ source: 'a', target: 'b' }],
        changed: [{ id: 'e1', paths: ['target'] }],
      },
    });
  });

  test('ignore the order of nodes and edges', () => {
    const graph = {
      nodes: [
        { id: 'a', kind: 'agent' },
        { kind: 'merge', id: 'b' },
      ],
      edges: [{ source: 'a', target: 'b' }],
    };
    const turned = {
      edges: [{ target: 'b', source: 'a' }],
      nodes: [
        { id: 'b', kind: 'merge' },
        { kind: 'agent', id: 'a' },
      ],
    };
    expect(diffGraphs(graph, turned)).toEqual({ nodes: nothing, edges: nothing });
  });

  test('handle duplicate IDs and parts without an ID', () => {
    const from = { nodes: [{ id: 'a', x: 1 }, { id: 'a', x: 2 }, 7], edges: null };
    const to = { nodes: [{ id: 'a', x: 1 }, { id: 'a', x: 3 }, 8] };
    expect(diffGraphs(from, to)).toEqual({
      nodes: { added: [8], removed: [7], changed: [{ id: 'a', paths: ['x'] }] },
      edges: nothing,
    });
  });

  test('are none for equal graphs, and never throw for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (from, to) => {
        expect(diffGraphs(from, from)).toEqual({ nodes: nothing, edges: nothing });
        diffGraphs({ nodes: [from], edges: to }, { nodes: [to], edges: from });
      }),
    );
  });
});
