import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  branchesOf,
  changeDraft,
  draftOf,
  freeBranch,
  type Draft,
  type DraftAction,
} from '#console/src/pages/workflows/editor/draft.ts';
import { freeId } from '#console/src/pages/workflows/editor/ids.ts';

const condition = { id: 'check', kind: 'condition', expression: 'ok' };
const agent = { id: 'write', kind: 'agent', prompt: 'Write {topic}' };
const merge = { id: 'end', kind: 'merge' };
const graph = {
  nodes: [condition, agent, merge],
  edges: [
    { source: 'check', target: 'write', condition_value: 'true' },
    { source: 'write', target: 'end' },
  ],
};

const after = (...actions: DraftAction[]): Draft => actions.reduce(changeDraft, draftOf(graph));

describe('changing a draft', () => {
  test('a new node has the required fields of its kind', () => {
    const draft = after({ type: 'add', id: 'loop_1', kind: 'loop', position: { x: 3, y: 4 } });
    expect(draft.graph.nodes.at(-1)).toEqual({
      id: 'loop_1',
      kind: 'loop',
      expression: 'false',
      max_iterations: 5,
      position: { x: 3, y: 4 },
    });
  });

  test('a node added after a branching node gets the unused branch', () => {
    const draft = after({ type: 'add', id: 'merge_1', kind: 'merge', after: 'check' });
    expect(draft.graph.edges.at(-1)).toEqual({
      source: 'check',
      target: 'merge_1',
      condition_value: 'false',
    });
    expect(freeBranch(draft.graph, 'check')).toBeUndefined();
  });

  test('a free ID is named after the kind and skips IDs in use', () => {
    expect(freeId(graph, 'human_gate')).toBe('gate_1');
    expect(freeId({ ...graph, nodes: [{ id: 'agent_1' }, 'no node'] }, 'agent')).toBe('agent_2');
  });

  test('setting a nested field creates its objects, and removing it drops empty ones', () => {
    const set = after({ type: 'set', id: 'write', field: 'retry.max_attempts', value: 3 });
    expect(set.graph.nodes[1]).toEqual({ ...agent, retry: { max_attempts: 3 } });
    const gone = changeDraft(set, {
      type: 'set',
      id: 'write',
      field: 'retry.max_attempts',
      value: undefined,
    });
    expect(gone.graph.nodes[1]).toEqual(agent);
  });

  test('setting the current value changes nothing', () => {
    const draft = draftOf(graph);
    const same: DraftAction = { type: 'set', id: 'write', field: 'prompt', value: agent.prompt };
    expect(changeDraft(draft, same)).toBe(draft);
    const nothing: DraftAction = {
      type: 'set',
      id: 'write',
      field: 'retry.backoff',
      value: undefined,
    };
    expect(changeDraft(draft, nothing)).toBe(draft);
  });

  test('renaming a node updates its edges', () => {
    const { graph: renamed } = after({ type: 'rename', id: 'write', to: 'draft' });
    expect(renamed.nodes[1]).toEqual({ ...agent, id: 'draft' });
    expect(renamed.edges).toEqual([
      { source: 'check', target: 'draft', condition_value: 'true' },
      { source: 'draft', target: 'end' },
    ]);
  });

  test.each(['end', ''])('a node is not renamed to %j', (to) => {
    const draft = draftOf(graph);
    expect(changeDraft(draft, { type: 'rename', id: 'write', to })).toBe(draft);
  });

  test('an edge is added only once, and only between existing nodes', () => {
    const draft = draftOf(graph);
    const edge = { type: 'connect', source: 'write', target: 'end' } as const;
    expect(changeDraft(draft, edge)).toBe(draft);
    expect(changeDraft(draft, { ...edge, target: 'nowhere' })).toBe(draft);
    expect(
      changeDraft(draft, { ...edge, source: 'check', branch: 'false' }).graph.edges,
    ).toHaveLength(3);
  });

  test('the branch of an edge can be changed and removed', () => {
    const other = after({ type: 'branch', edge: 0, branch: 'false' });
    expect(other.graph.edges[0]).toEqual({
      source: 'check',
      target: 'write',
      condition_value: 'false',
    });
    const always = changeDraft(other, { type: 'branch', edge: 0, branch: undefined });
    expect(always.graph.edges[0]).toEqual({ source: 'check', target: 'write' });
  });

  test('the branches of an edge depend on the kind of its source', () => {
    const of = (kind: string) => branchesOf({ kind });
    expect([of('agent'), of('condition'), of('map'), of('human_gate'), of('merge')]).toEqual([
      ['error'],
      ['true', 'false'],
      ['true', 'false', 'error'],
      ['true', 'false', 'error'],
      [],
    ]);
    const error = after({ type: 'branch', edge: 0, branch: 'error' });
    expect(error.graph.edges[0]).toMatchObject({ condition_value: 'error' });
  });

  test('removing a node removes its edges, and removing an edge keeps the nodes', () => {
    expect(after({ type: 'remove', nodes: ['write'], edges: [] }).graph).toEqual({
      nodes: [condition, merge],
      edges: [],
    });
    const { graph: without } = after({ type: 'remove', nodes: [], edges: [1] });
    expect(without.nodes).toHaveLength(3);
    expect(without.edges).toEqual([graph.edges[0]]);
  });

  test('invalid nodes and unknown keys stay unchanged', () => {
    const odd = { nodes: ['scribble', agent, null], edges: [7], colour: 'red' };
    const draft = changeDraft(draftOf(odd), { type: 'rename', id: 'write', to: 'draft' });
    expect(draft.graph).toEqual({
      nodes: ['scribble', { ...agent, id: 'draft' }, null],
      edges: [7],
      colour: 'red',
    });
  });

  test('positions are rounded, and change only for the given nodes', () => {
    const { graph: placed } = after({
      type: 'place',
      places: new Map([['end', { x: 10.4, y: -3.6 }]]),
    });
    expect(placed.nodes[2]).toEqual({ ...merge, position: { x: 10, y: -4 } });
    expect(placed.nodes[1]).toBe(agent);
  });
});

describe('undo', () => {
  const type = (value: string): DraftAction => ({
    type: 'set',
    id: 'write',
    field: 'prompt',
    value,
  });

  test('typing in one field is one step, and another field starts the next', () => {
    const draft = after(type('a'), type('ab'), type('abc'), {
      type: 'set',
      id: 'write',
      field: 'label',
      value: 'L',
    });
    const once = changeDraft(draft, { type: 'undo' });
    expect(once.graph.nodes[1]).toEqual({ ...agent, prompt: 'abc' });
    expect(changeDraft(once, { type: 'undo' }).graph).toBe(graph);
  });

  test('typing after an undo is a separate step', () => {
    const draft = after(type('a'), { type: 'undo' }, type('b'));
    expect(changeDraft(draft, { type: 'undo' }).graph).toBe(graph);
    expect(draft.future).toEqual([]);
  });

  test('edits of the JSON are one step until the drawing changes', () => {
    const empty = { nodes: [], edges: [] };
    const draft = after(
      { type: 'replace', graph: { ...graph, edges: [] }, touched: 'json' },
      { type: 'replace', graph: empty, touched: 'json' },
    );
    expect(draft.graph).toBe(empty);
    expect(changeDraft(draft, { type: 'undo' }).graph).toBe(graph);
  });

  test('loading leaves nothing to undo', () => {
    const draft = changeDraft(after(type('a')), { type: 'load', graph });
    expect(changeDraft(draft, { type: 'undo' })).toBe(draft);
    expect(changeDraft(draft, { type: 'redo' })).toBe(draft);
  });

  test('undoing all steps restores the start, and redoing them the end, for any steps', () => {
    const id = fc.constantFrom('check', 'write', 'end', 'agent_1', 'nowhere');
    const branch = fc.constantFrom('true' as const, 'false' as const, undefined);
    const action: fc.Arbitrary<DraftAction> = fc.oneof(
      fc.record({ type: fc.constant('add' as const), id, kind: fc.constant('agent' as const) }),
      fc.record({
        type: fc.constant('set' as const),
        id,
        field: fc.constantFrom('label', 'retry.backoff'),
        value: fc.constantFrom('x', 'y', undefined),
      }),
      fc.record({ type: fc.constant('rename' as const), id, to: id }),
      fc.record({ type: fc.constant('connect' as const), source: id, target: id, branch }),
      fc.record({ type: fc.constant('branch' as const), edge: fc.nat(3), branch }),
      fc.record({
        type: fc.constant('remove' as const),
        nodes: fc.array(id, { maxLength: 2 }),
        edges: fc.array(fc.nat(3), { maxLength: 2 }),
      }),
    );
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        const end = after(...actions);
        const back = actions.reduce((draft) => changeDraft(draft, { type: 'undo' }), end);
        expect(back.graph).toBe(graph);
        const forth = actions.reduce((draft) => changeDraft(draft, { type: 'redo' }), back);
        expect(forth.graph).toBe(end.graph);
      }),
    );
  });

  test('keeps the last 200 steps', () => {
    const actions = Array.from({ length: 250 }, (_, at): DraftAction => ({
      type: 'rename',
      id: at === 0 ? 'end' : `end_${at}`,
      to: `end_${at + 1}`,
    }));
    let draft = after(...actions);
    expect(draft.past).toHaveLength(200);
    for (let step = 0; step < 250; step += 1) draft = changeDraft(draft, { type: 'undo' });
    expect(draft.graph.nodes[2]).toEqual({ id: 'end_50', kind: 'merge' });
  });
});
