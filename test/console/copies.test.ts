import { describe, expect, test } from '@jest/globals';
import {
  clipboardNodes,
  clipboardText,
  copyOf,
  pasted,
} from '#console/src/pages/workflows/editor/copying/copies.ts';
import { changeDraft, draftOf } from '#console/src/pages/workflows/editor/draft.ts';

const graph = {
  nodes: [
    {
      id: 'read',
      kind: 'agent',
      prompt: '{letter}',
      output_key: 'about',
      position: { x: 0, y: 0 },
    },
    {
      id: 'check',
      kind: 'condition',
      expression: "len(about) > 3 and read.x != 'about' and letter",
      position: { x: 300, y: 0 },
    },
    {
      id: 'send',
      kind: 'tool',
      tool_name: 'http_request',
      params: { url: 'https://h/{about}', body: ['{check.result}', '{{about}}', '{letter}'] },
      position: { x: 600, y: 0 },
    },
  ],
  edges: [
    { source: 'read', target: 'check' },
    { source: 'check', target: 'send', condition_value: 'true' },
  ],
};
const places = new Map(graph.nodes.map(({ id, position }) => [id, position]));

describe('pasted nodes', () => {
  const { graph: next, ids } = pasted(graph, copyOf(graph, ['read', 'check', 'send'], places));
  const copies = next.nodes.slice(3) as Record<string, any>[];

  test('have unused ids and output keys, and keep the edges among them', () => {
    expect(ids).toEqual(['read_2', 'check_2', 'send_2']);
    expect(copies[0]).toMatchObject({ output_key: 'about_2', position: { x: 40, y: 40 } });
    expect(next.edges.slice(2)).toEqual([
      { source: 'read_2', target: 'check_2' },
      { source: 'check_2', target: 'send_2', condition_value: 'true' },
    ]);
    const again = pasted(next, copyOf(next, ids, places));
    expect(again.ids).toEqual(['read_3', 'check_3', 'send_3']);
  });

  test('read the copies instead of the originals, and keep all other text unchanged', () => {
    expect(copies[0]!['prompt']).toBe('{letter}');
    expect(copies[1]!['expression']).toBe("len(about_2) > 3 and read_2.x != 'about' and letter");
    expect(copies[2]!['params']).toEqual({
      url: 'https://h/{about_2}',
      body: ['{check_2.result}', '{{about}}', '{letter}'],
    });
  });

  test('send the addresses of the copied waits', () => {
    const params = {
      url: 'https://h/',
      body: "{callbacks.paid} {callbacks['paid']} {callbacks.other}",
    };
    const ask = { id: 'ask', kind: 'tool', tool_name: 'http_request', params };
    const waits = { nodes: [ask, { id: 'paid', kind: 'wait', callback: true }], edges: [] };
    const { graph: copy } = pasted(waits as never, copyOf(waits as never, ['ask', 'paid'], places));
    expect(copy.nodes[2]).toMatchObject({
      id: 'ask_2',
      params: { body: "{callbacks.paid_2} {callbacks['paid_2']} {callbacks.other}" },
    });
  });

  test('read what was not copied', () => {
    const { graph: part } = pasted(graph, copyOf(graph, ['send'], places));
    expect(part.nodes.at(-1)).toMatchObject({
      id: 'send_2',
      params: { url: 'https://h/{about}' },
    });
    expect(part.edges).toHaveLength(2);
  });

  test('keep their ids in another workflow, and go to the given position', () => {
    const other = pasted({ nodes: [], edges: [] }, copyOf(graph, ['check', 'send'], places), {
      x: 10,
      y: 20,
    });
    expect(other.ids).toEqual(['check', 'send']);
    expect(other.graph.nodes).toMatchObject([
      { position: { x: 10, y: 20 } },
      { position: { x: 310, y: 20 } },
    ]);
  });

  test('survive text that does not parse, and any other content of a draft', () => {
    const odd = {
      nodes: [
        { id: 'a', kind: 'condition', expression: 'a and and' },
        { id: 'b', kind: 'tool', tool_name: 7, params: 'x' },
        { id: 'c', kind: 'agent', tools: [null, 3], mock: 'x', prompt: { x: '{a}' } },
        'scribble',
      ],
      edges: [3, { source: 'a', target: 'b' }],
    };
    const { graph: copy, ids: made } = pasted(
      odd as never,
      copyOf(odd as never, ['a', 'b', 'c'], new Map()),
    );
    expect(made).toEqual(['a_2', 'b_2', 'c_2']);
    expect(copy.nodes).toHaveLength(7);
  });
});

describe('the text of a clipboard', () => {
  test('contains the copied nodes', () => {
    const copied = copyOf(graph, ['read', 'check'], places);
    expect(clipboardNodes(clipboardText(copied))).toEqual(copied);
  });

  test('is ignored unless it contains nodes that can be displayed', () => {
    for (const text of [
      '',
      'hello',
      '{"workflow_nodes": ',
      '{"workflow_nodes": 7}',
      '{"workflow_nodes": [{"id": 1, "kind": "agent"}, {"id": "x", "kind": "wizard"}, null]}',
      '["workflow_nodes"]',
    ]) {
      expect(clipboardNodes(text)).toBeUndefined();
    }
    const edges = [{ source: 'a', target: 'gone' }, 7];
    const nodes = [{ id: 'a', kind: 'merge' }];
    expect(clipboardNodes(JSON.stringify({ workflow_nodes: nodes, edges }))).toEqual({
      nodes,
      edges: [],
    });
  });
});

describe('a node that is inserted into an edge', () => {
  const insert = (kind: 'merge' | 'condition' | 'loop') =>
    changeDraft(draftOf(graph), { type: 'add', id: 'new', kind, into: 1 });

  test('takes over its branch, and leads to its target', () => {
    expect(insert('merge').graph.edges).toEqual([
      { source: 'read', target: 'check' },
      { source: 'check', target: 'new', condition_value: 'true' },
      { source: 'new', target: 'send' },
    ]);
  });

  test('leads there on its first branch or, for a loop, when it is done', () => {
    expect(insert('condition').graph.edges[2]).toMatchObject({ condition_value: 'true' });
    expect(insert('loop').graph.edges[2]).toEqual({ source: 'new', target: 'send' });
  });

  test('is one undo step, including the nodes that made room', () => {
    const draft = changeDraft(draftOf(graph), {
      type: 'add',
      id: 'new',
      kind: 'merge',
      into: 1,
      position: { x: 600, y: 0 },
      moved: new Map([['send', { x: 872, y: 0 }]]),
    });
    expect(draft.graph.nodes[2]).toMatchObject({ id: 'send', position: { x: 872, y: 0 } });
    expect(changeDraft(draft, { type: 'undo' }).graph).toBe(graph);
  });
});
