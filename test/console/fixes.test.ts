import { expect, test } from '@jest/globals';
import type { Graph } from '#client/index.ts';
import { checkDraft } from '#console/src/pages/workflows/mistakes/checker.ts';
import { fixOf } from '#console/src/pages/workflows/mistakes/fixes.ts';

const tool = (id: string, more = {}) => ({
  ...{ id, kind: 'tool', tool_name: 'json_transform', params: { expression: '1' } },
  ...more,
});
const edge = (source: string, target: string, condition_value?: string) => ({
  ...{ source, target },
  ...(condition_value !== undefined && { condition_value }),
});
const condition = { id: 'big', kind: 'condition', expression: 'total > 1' };
const map = { id: 'each', kind: 'map', items: 'lines' };
const loop = { id: 'again', kind: 'loop', expression: 'false' };
const gate = { id: 'ask', kind: 'human_gate', prompt: 'Go?' };

test.each<[string, string, Graph]>([
  [
    'condition_branch_missing',
    'Add the missing “No” edge to end',
    {
      nodes: [condition, tool('a'), { id: 'end', kind: 'merge' }],
      edges: [edge('big', 'a', 'true'), edge('a', 'end')],
    },
  ],
  ['map_without_body', 'Add a body node', { nodes: [map, tool('tool_1')], edges: [] }],
  [
    'map_without_return',
    'Lead b back to each',
    { nodes: [map, tool('a'), tool('b')], edges: [edge('each', 'a', 'true'), edge('a', 'b')] },
  ],
  [
    'loop_without_return',
    'Lead a back to again',
    { nodes: [loop, tool('a')], edges: [edge('again', 'a', 'true')] },
  ],
  [
    'condition_value_ignored',
    'Take this edge always',
    { nodes: [tool('a'), tool('b')], edges: [edge('a', 'b', 'true')] },
  ],
  [
    'error_edge_not_allowed',
    'Remove this edge',
    { nodes: [{ id: 'm', kind: 'merge' }, tool('b')], edges: [edge('m', 'b', 'error')] },
  ],
  [
    'duplicate_edge',
    'Remove this edge',
    { nodes: [tool('a'), tool('b')], edges: [edge('a', 'b'), edge('a', 'b')] },
  ],
  [
    'gate_rechecks_nothing',
    'Remove the recheck',
    { nodes: [{ ...gate, recheck: true }], edges: [] },
  ],
  ['gate_covers_nothing', 'Allow other writes', { nodes: [{ ...gate, covers: 'all' }], edges: [] }],
  [
    'gate_reminds_too_late',
    'Remove the reminder',
    { nodes: [{ ...gate, timeout_seconds: 5, remind_seconds: 9 }], edges: [] },
  ],
  ['unknown_key', 'Remove “colour”', { nodes: [tool('a', { colour: 'red' })], edges: [] }],
  [
    'unknown_param',
    'Remove “expresion”',
    { nodes: [tool('a', { params: { expression: '1', expresion: '2' } })], edges: [] },
  ],
  [
    'key_not_set',
    'Use “total”',
    {
      nodes: [tool('total'), { ...gate, prompt: 'Pay {totl}?' }],
      edges: [edge('total', 'ask')],
    },
  ],
  [
    'key_not_set',
    'Remove {later}',
    {
      nodes: [{ ...gate, prompt: 'Pay {later}?' }, tool('later')],
      edges: [edge('ask', 'later')],
    },
  ],
])('one click mends %s: %s', (code, label, graph) => {
  const found = checkDraft(graph, [], []).find((mistake) => mistake.code === code);
  const fix = found && fixOf(found, graph);
  expect(fix?.label).toBe(label);
  expect(checkDraft(fix!.graph, [], []).map((mistake) => mistake.code)).not.toContain(code);
});

test('nothing is offered where there is a choice', () => {
  const graph: Graph = {
    nodes: [map, condition, tool('a'), tool('b')],
    edges: [edge('each', 'big', 'true'), edge('big', 'a', 'true'), edge('big', 'b', 'false')],
  };
  const found = checkDraft(graph, [], []).find(({ code }) => code === 'map_without_return');
  expect(found).toBeDefined();
  expect(fixOf(found!, graph)).toBeUndefined();
});
