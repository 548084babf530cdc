import { describe, expect, test } from '@jest/globals';
import { type GateNode, type Graph, graphSchema } from '#shared/contract/workflows/graph.ts';
import { callKey } from '#shared/graph/children/called-workflows.ts';
import { type Children, guardsBefore, sightOf, writesIn } from '#shared/graph/guards.ts';
import { weakenedWrites, isWeaker } from '#shared/graph/guards/weakened-writes.ts';
import { builtinTools, writes } from '#shared/tools.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

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
      { id: `id of ${workflow}`, version: version ?? 1, graph },
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

test('every tool writes, except for reads and tools that only compute or wait', () => {
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

test('a gate comes before what can be reached from it, on any branch', () => {
  const graph = graphOf(
    [gate('ok'), gate('other'), pay, tool('undo', 'send_email'), tool('apart', 'mcp')],
    ...['ok>pay:true', 'ok>undo:false', 'other>undo'],
  );
  expect(before(graph)).toEqual({ pay: ['ok'], undo: ['ok', 'other'] });
});

test('a gate in a loop comes before its own body and before what follows the loop', () => {
  const loop = { id: 'again', kind: 'loop', expression: 'more' };
  const graph = graphOf(
    [loop, pay, gate('ok'), tool('after', 'mcp')],
    ...['again>pay:true', 'pay>ok', 'ok>again', 'again>after:false'],
  );
  const behind = ['ok'];
  expect(before(graph)).toEqual({ again: behind, pay: behind, ok: behind, after: behind });
});

test('a gate in the body of a map comes before what follows the map, without an edge back', () => {
  const map = { id: 'each', kind: 'map', items: 'list' };
  const graph = graphOf(
    [map, gate('ok'), pay, tool('after', 'mcp')],
    ...['each>ok:true', 'ok>pay', 'each>after:false'],
  );
  expect(before(graph)).toMatchObject({ pay: ['ok'], after: ['ok'] });
});

test('an approval comes before what follows its agent', () => {
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

test('a sub-workflow writes what its graph writes, and everything if it is unknown', () => {
  const graph = graphOf([calls('read', 'Reads'), calls('write', 'Pays', 2), calls('none', 'Gone')]);
  const children = childrenOf(
    ['Reads', graphOf([tool('get', 'http_request'), calls('deep', 'Finds')])],
    ['Finds', graphOf([tool('find', 'entity_search')])],
    ['Pays', graphOf([agent('clerk', { name: 'workflow:Inner', approval: 'always' })]), 2],
    ['Inner', graphOf([pay])],
  );
  expect(written(graph, children)).toEqual(['pay custom:pay always', 'none workflow']);
});

test('the guards of a sub-workflow come before what follows it', () => {
  const graph = graphOf([calls('ask', 'Asks'), pay], 'ask>pay');
  const children = childrenOf(
    ['Asks', graphOf([calls('deep', 'Inner')])],
    ['Inner', graphOf([gate('ok')])],
  );
  expect(before(graph, children)).toEqual({ pay: ['ask deep ok'] });
});

test('only a bounded number of nodes is visited, and the rest is assumed to write', () => {
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

describe('a graph requires less approval', () => {
  /** The nodes for which the candidate asks less, with what is missing. */
  const less = (candidate: Graph, current: Graph, children: Children = {}) =>
    weakenedWrites(candidate, current, children).map(({ nodeId, guard }) => `${nodeId}: ${guard}`);
  const guarded = graphOf([gate('ok'), pay], 'ok>pay:true');
  const http = (id: string, url: string, method = 'POST') =>
    tool(id, 'http_request', { url, method });
  const chain = (...nodes: { id: string }[]) =>
    graphOf(nodes, ...nodes.slice(1).map(({ id }, at) => `${nodes[at]!.id}>${id}`));

  const lessAsked: [string, Graph, Graph][] = [
    ['the gate is gone', graphOf([pay]), guarded],
    ['its node has another name', graphOf([tool('other', 'custom:pay')]), guarded],
    ['its arguments differ', graphOf([tool('pay', 'custom:pay', { amount: 1 })]), guarded],
    ['the gate is beside it', graphOf([gate('ok'), pay]), guarded],
    ['the gate comes after it', chain(pay, gate('ok')), chain(gate('ok'), pay)],
    [
      'a way leads around the gate',
      graphOf([gate('ok'), pay, tool('start', 'delay')], 'start>ok', 'start>pay', 'ok>pay:true'),
      guarded,
    ],
    ['it follows a rejection', graphOf([gate('ok'), pay], 'ok>pay:false'), guarded],
    [
      'it follows any answer',
      graphOf([gate('ok'), pay, tool('no', 'delay')], 'ok>pay', 'ok>no:false'),
      guarded,
    ],
    ['another gate stands there', chain(gate('else'), pay), guarded],
    ['one of two gates is gone', chain(gate('a'), pay), chain(gate('a'), gate('b'), pay)],
    ['an agent does it', graphOf([agent('clerk', 'custom:pay')]), guarded],
    [
      'it does it a second time',
      graphOf([gate('ok'), pay, tool('again', 'custom:pay')], 'ok>pay:true'),
      guarded,
    ],
    ['another tool does it', graphOf([tool('pay', 'custom:pay2')]), guarded],
    [
      'a request to the same host',
      graphOf([http('x', 'https://BANK.example:8443/v1')]),
      chain(gate('ok'), http('y', 'https://bank.example/v2/{id}')),
    ],
    [
      'a request to some host',
      graphOf([http('x', '{url}')]),
      chain(gate('ok'), http('y', 'https://bank.example')),
    ],
    [
      'a request to another host',
      graphOf([http('x', 'https://old.example')]),
      chain(gate('ok'), http('y', 'https://bank.example')),
    ],
    [
      'an approval is gone',
      graphOf([agent('clerk', 'custom:pay')]),
      graphOf([agent('clerk', { name: 'custom:pay', approval: 'always' })]),
    ],
    [
      'an expression replaces an approval',
      graphOf([agent('clerk', { name: 'custom:pay', approval: 'x' })]),
      graphOf([agent('clerk', { name: 'custom:pay', approval: 'always' })]),
    ],
    [
      'another expression',
      graphOf([agent('clerk', { name: 'custom:pay', approval: 'x' })]),
      graphOf([agent('clerk', { name: 'custom:pay', approval: 'y' })]),
    ],
    [
      'no approval comes before what follows an agent',
      chain(agent('clerk', 'feed_list'), tool('note', 'mcp')),
      chain(agent('clerk', { name: 'custom:pay', approval: 'always' }), tool('note', 'mcp')),
    ],
    [
      'an unknown sub-workflow',
      graphOf([calls('sub', 'Gone')]),
      chain(gate('ok'), calls('sub', 'Gone')),
    ],
    ['a sub-workflow in place of the node', graphOf([calls('sub', 'Gone')]), guarded],
  ];
  test.each(lessAsked)('%s', (_name, candidate, current) => {
    expect(less(candidate, current)).not.toEqual([]);
  });

  const notLess: [string, Graph, Graph][] = [
    ['the same', guarded, guarded],
    ['nothing is guarded', graphOf([pay]), graphOf([tool('other', 'mcp')])],
    ['a gate more', chain(gate('more'), gate('ok'), pay), chain(gate('ok'), pay)],
    [
      'other arguments behind the gate',
      chain(gate('ok'), tool('pay', 'custom:pay', { amount: 1 })),
      guarded,
    ],
    ['another write behind the gate', chain(gate('ok'), tool('note', 'send_email'), pay), guarded],
    [
      'reads and computations',
      graphOf(
        [
          gate('ok'),
          pay,
          http('get', 'https://bank.example', 'GET'),
          tool('now', 'json_transform'),
        ],
        'ok>pay:true',
        'get>now',
      ),
      guarded,
    ],
    ['the write is gone', graphOf([gate('ok')]), guarded],
    [
      'an unguarded write as it was',
      graphOf(
        [gate('ok'), pay, http('a', 'https://a.example'), tool('new', 'delay')],
        'ok>pay:true',
      ),
      graphOf([gate('ok'), pay, http('a', 'https://a.example')], 'ok>pay:true'),
    ],
    [
      'always instead of an expression',
      graphOf([agent('clerk', { name: 'custom:pay', approval: 'always' })]),
      graphOf([agent('clerk', { name: 'custom:pay', approval: 'x' })]),
    ],
    [
      'no approval where there was none',
      graphOf([agent('clerk', 'custom:pay', 'mcp')]),
      graphOf([agent('clerk', 'custom:pay')]),
    ],
  ];
  test.each(notLess)('unless: %s', (_name, candidate, current) => {
    expect(less(candidate, current)).toEqual([]);
  });

  test('if only some paths pass a gate and the branches differ', () => {
    const large = (expression: string) => ({ id: 'large', kind: 'condition', expression });
    const some = (expression: string, label = 'pay') =>
      graphOf(
        [large(expression), gate('ok'), { ...pay, label }],
        ...['large>ok:true', 'ok>pay:true', 'large>pay:false'],
      );
    expect(less(some('amount > 10', 'Pay'), some('amount > 10'))).toEqual([]);
    expect(less(some('amount > 1000'), some('amount > 10'))).toEqual(["pay: gate 'ok'"]);
    const twice = (expression: string, label = 'small') =>
      graphOf(
        [large(expression), gate('ok'), pay, { ...tool('small', 'custom:pay'), label }],
        ...['large>ok:true', 'ok>pay:true', 'large>small:false'],
      );
    expect(less(twice('amount > 10', 'Small'), twice('amount > 10'))).toEqual([]);
    expect(less(twice('amount > 1000'), twice('amount > 10'))).toEqual(["small: gate 'ok'"]);
  });

  test('in a sub-workflow, judged by its version', () => {
    const parent = (version?: number) =>
      graphOf([calls('sub', 'Pays', version), tool('x', 'delay')]);
    const children = childrenOf(
      ['Pays', guarded],
      ['Pays', graphOf([pay]), 1],
      ['Pays', guarded, 2],
    );
    const now = { ...children[callKey({ workflow: 'Pays' })]!, version: 2 };
    const known = { ...children, [callKey({ workflow: 'Pays' })]: now };
    expect(less(parent(1), parent(), known)).toEqual([
      "sub: gate 'ok' of the workflow that 'sub' runs",
    ]);
    expect(less(parent(2), parent(), known)).toEqual([]);
    expect(less(graphOf([pay]), parent(), known)).toEqual([
      "pay: gate 'ok' of the workflow that 'sub' runs",
    ]);
    const asked = chain(calls('ask', 'Asks'), pay);
    const asks = childrenOf(['Asks', graphOf([gate('ok')])], ['Asks', graphOf([]), 3]);
    expect(less(chain(calls('ask', 'Asks', 3), pay), asked, asks)).not.toEqual([]);
  });

  soakTest('takes at most quadratic time: each gate with each write', () => {
    const decide = (pairs: number) => {
      const nodes = Array.from({ length: pairs }, (_, n) => [
        gate(`g${n}`),
        tool(`w${n}`, 'mcp'),
      ]).flat();
      const large = chain(...nodes);
      const other = chain(...nodes, tool('end', 'delay'));
      return () => less(other, large);
    };
    expect(decide(300)().length).toBeGreaterThan(0);
    expect(growth(decide, 300)).toBeLessThan(20);
  });

  const members = (...ids: string[]) => ({ approvers: { members: ids } });
  const roles = (...names: string[]) => ({ approvers: { roles: names } });
  const weaker: [object, object, boolean][] = [
    [{}, {}, false],
    [{ required: 1 }, { required: 2 }, true],
    [{}, { required: 2 }, true],
    [{ required: 3 }, { required: 2 }, false],
    [{}, { not_the_starter: true }, true],
    [{ not_the_starter: true }, {}, false],
    [{}, { signed_in: true }, true],
    [{ signed_in: true }, {}, false],
    [{}, members('a'), true],
    [members('a', 'b'), members('a'), true],
    [members('a'), members('a', 'b'), false],
    [members('a'), {}, false],
    [roles('editor'), members('a'), true],
    [roles('admin', 'editor'), roles('admin'), true],
    [roles('admin'), roles('admin', 'editor'), false],
    [{ timeout_seconds: 5, on_timeout: 'approve' }, {}, true],
    [{ timeout_seconds: 5, on_timeout: 'reject' }, {}, false],
    [
      { timeout_seconds: 5, on_timeout: 'approve' },
      { timeout_seconds: 9, on_timeout: 'approve' },
      true,
    ],
    [
      { timeout_seconds: 9, on_timeout: 'approve' },
      { timeout_seconds: 5, on_timeout: 'approve' },
      false,
    ],
    [{ timeout_seconds: 5 }, {}, false],
    [{}, { input_schema: { type: 'object' } }, true],
    [{ input_schema: { type: 'object' } }, {}, false],
    [{}, { recheck: true }, true],
    [{}, { covers: 'all' }, true],
    [{ covers: 'all' }, {}, false],
    [{ recheck: { after_seconds: 9 } }, { recheck: true }, true],
    [{ recheck: true }, { recheck: { after_seconds: 9 } }, false],
    [{ prompt: 'a' }, { prompt: 'b' }, false],
  ];
  test.each(weaker)('a gate with %j instead of %j is weaker: %p', (own, other, expected) => {
    const gateOf = (settings: object) =>
      graphOf([{ ...gate('ok'), ...settings }]).nodes[0] as GateNode;
    expect(isWeaker(gateOf(own), gateOf(other))).toBe(expected);
    const graph = (settings: object) => chain({ ...gate('ok'), ...settings }, pay);
    expect(less(graph(own), graph(other)).length > 0).toBe(expected);
  });
});
