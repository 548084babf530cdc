import { expect, test } from '@jest/globals';
import { type Graph, graphSchema } from '../../shared/contract/graph.ts';
import { callKey } from '../../shared/graph/called-workflows.ts';
import { type Children, guardsBefore, sightOf, writesIn } from '../../shared/graph/guards.ts';
import { builtinTools, writes } from '../../shared/tools.ts';

/** Edges as `a>b`, with a branch as `a>b:true`. */
const graphOf = (nodes: object[], ...edges: string[]): Graph =>
  graphSchema.parse({
    nodes,
    edges: edges.map((edge) => {
      const [path = '', condition_value] = edge.split(':');
      const [source, target] = path.split('>');
      return { source, target, ...(condition_value === undefined ? {} : { condition_value }) };
    }),
  });

const gate = (id: string) => ({ id, kind: 'human_gate' });
const tool = (id: string, tool_name: string, params: object = {}) => ({
  ...{ id, kind: 'tool', tool_name, params },
});
const pay = tool('pay', 'custom:pay');
const agent = (id: string, ...tools: unknown[]) => ({ id, kind: 'agent', tools });
const calls = (id: string, workflow: string, version?: number) => ({
  ...{ id, kind: 'workflow', workflow },
  ...(version === undefined ? {} : { version }),
});

const childrenOf = (...known: [string, Graph, version?: number][]): Children =>
  Object.fromEntries(
    known.map(([workflow, graph, version]) => [
      callKey({ workflow, version }),
      { id: `id of ${workflow}`, graph },
    ]),
  );

/** The guards before each node, as `gate` or `agent custom:tool`. */
function before(graph: Graph, children: Children = {}): Record<string, string[]> {
  const found = [...guardsBefore(graph, sightOf(children))];
  return Object.fromEntries(
    found.map(([id, guards]) => [
      id,
      guards.map(({ node, tool, through }) =>
        [...through.map(({ nodeId }) => nodeId), node.id, ...(tool ? [tool.name] : [])].join(' '),
      ),
    ]),
  );
}

const written = (graph: Graph, children: Children = {}): string[] =>
  graph.nodes.flatMap((node) =>
    writesIn(node, sightOf(children)).map(({ node: { id }, tool, approvals }) =>
      [id, tool, ...approvals].join(' '),
    ),
  );

test('every tool writes, except reads and what only computes or waits', () => {
  const reading = [...builtinTools].filter((name) => !writes(name, 'GET'));
  expect(reading.sort()).toEqual(
    ['delay', 'entity_search', 'feed_list', 'http_request', 'json_transform'].sort(),
  );
  expect(writes('custom:lookup', undefined)).toBe(true);
  expect(writes('unknown', undefined)).toBe(true);
});

test.each([
  ['GET', false],
  ['head', false],
  ['POST', true],
  ['DELETE', true],
  ['{method}', true],
  [' GET', true],
  [undefined, true],
  [null, true],
  [['GET'], true],
])('a request with the method %p writes: %p', (method, expected) => {
  expect(writes('http_request', method)).toBe(expected);
});

test('a gate stands before what can be reached from it, on any branch', () => {
  const graph = graphOf(
    [gate('ok'), gate('other'), pay, tool('undo', 'send_email'), tool('apart', 'mcp')],
    ...['ok>pay:true', 'ok>undo:false', 'other>undo'],
  );
  expect(before(graph)).toEqual({ pay: ['ok'], undo: ['ok', 'other'] });
});

test('a gate in a loop stands before its own body and before what follows the loop', () => {
  const loop = { id: 'again', kind: 'loop', expression: 'more' };
  const graph = graphOf(
    [loop, pay, gate('ok'), tool('after', 'mcp')],
    ...['again>pay:true', 'pay>ok', 'ok>again', 'again>after:false'],
  );
  const behind = ['ok'];
  expect(before(graph)).toEqual({ again: behind, pay: behind, ok: behind, after: behind });
});

test('a gate in the body of a map stands before what follows the map, without an edge back', () => {
  const map = { id: 'each', kind: 'map', items: 'list' };
  const graph = graphOf(
    [map, gate('ok'), pay, tool('after', 'mcp')],
    ...['each>ok:true', 'ok>pay', 'each>after:false'],
  );
  expect(before(graph)).toMatchObject({ pay: ['ok'], after: ['ok'] });
});

test('an approval stands before what follows its agent', () => {
  const graph = graphOf(
    [
      agent('clerk', 'custom:look', { name: 'custom:pay', approval: 'always' }),
      agent('other', { name: 'custom:pay', approval: 'never' }),
      tool('note', 'send_email'),
    ],
    ...['clerk>note', 'other>note'],
  );
  expect(before(graph)).toEqual({ note: ['clerk custom:pay'] });
});

test('an agent writes through its tools, under their approvals', () => {
  const graph = graphOf([
    agent(
      'clerk',
      ...['custom:look', 'entity_search', 'http_request', 'json_transform', 'mcp'],
      { name: 'http_request', fixed: { method: 'GET' } },
      { name: 'custom:pay', approval: 'args.amount > 5' },
      { name: 'workflow:Refund', approval: 'always' },
    ),
  ]);
  expect(written(graph)).toEqual([
    'clerk custom:look',
    'clerk http_request',
    'clerk mcp',
    'clerk custom:pay args.amount > 5',
    'clerk workflow always',
  ]);
});

test('a sub-workflow writes what its graph writes, and everything if it is not known', () => {
  const graph = graphOf([calls('read', 'Reads'), calls('write', 'Pays', 2), calls('none', 'Gone')]);
  const children = childrenOf(
    ['Reads', graphOf([tool('get', 'http_request'), calls('deep', 'Finds')])],
    ['Finds', graphOf([tool('find', 'entity_search')])],
    ['Pays', graphOf([agent('clerk', { name: 'workflow:Inner', approval: 'always' })]), 2],
    ['Inner', graphOf([pay])],
  );
  expect(written(graph, children)).toEqual(['pay custom:pay always', 'none workflow']);
});

test('the guards of a sub-workflow stand before what follows it', () => {
  const graph = graphOf([calls('ask', 'Asks'), pay], 'ask>pay');
  const children = childrenOf(
    ['Asks', graphOf([calls('deep', 'Inner')])],
    ['Inner', graphOf([gate('ok')])],
  );
  expect(before(graph, children)).toEqual({ pay: ['ask deep ok'] });
});

test('looks at a bounded number of nodes, and takes the rest as writing', () => {
  const many = (workflow: string) =>
    graphOf(Array.from({ length: 100 }, (_, n) => calls(`n${n}`, workflow)));
  const children = childrenOf(
    ['a', many('b')],
    ['b', many('c')],
    ['c', graphOf([tool('find', 'entity_search')])],
  );
  const sight = sightOf(children);
  const found = many('a').nodes.flatMap((node) => writesIn(node, sight));
  expect(sight.left).toBeLessThan(0);
  expect(found.length).toBeGreaterThan(0);
  expect(found.every(({ tool }) => tool === 'workflow')).toBe(true);
});
