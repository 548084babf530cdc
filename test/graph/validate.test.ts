import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { graphSchema, type Graph, type GraphIssue } from '#shared/contract/workflows/graph.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import type { ValidationContext } from '#shared/graph/validate/context.ts';
import { soakDescribe } from '#test/support/soak.ts';
import { draw } from './drawing.ts';
import { generatedTools, randomGraph } from './generated/build.ts';
import { growth } from '#test/support/growth.ts';

const context: ValidationContext = {
  tools: new Set(['http_request', 'mcp', 'json_transform', 'delay']),
  customTools: new Map([['crm', { label: '', description: '', input_schema: null }]]),
};

const codes = (issues: readonly GraphIssue[]): string[] => issues.map((issue) => issue.code);

function issuesOf(graph: Graph, inputKeys?: string[]): { errors: string[]; warnings: string[] } {
  const { errors, warnings, valid } = checkGraph(graph, {
    ...context,
    ...(inputKeys && { inputKeys }),
  });
  expect(valid).toBe(errors.length === 0);
  return { errors: codes(errors), warnings: codes(warnings) };
}

/** Titled graphs, some with the keys of their input, by the codes of their issues, which are separated by spaces. */
const casesOf = (byCodes: Record<string, Record<string, Graph | [Graph, inputKeys: string[]]>>) =>
  Object.entries(byCodes).flatMap(([key, graphs]) =>
    Object.entries(graphs).map(([title, given]) => {
      const [graph, inputKeys] = Array.isArray(given) ? given : [given];
      return { title, graph, inputKeys, codes: key === 'none' ? [] : key.split(' ') };
    }),
  );

describe('valid graphs', () => {
  test.each([
    ['one node', draw('a')],
    // s -> c -true-> a -> m,  c -false-> b -> m
    ['a branch', draw('s -> c -true-> a -> m\nc -false-> b -> m')],
    // s -> l -true-> a -> l -false-> e
    ['a loop', draw('s -> l -true-> a -> l -false-> e')],
    ['a custom tool', draw('t', { t: { tool_name: 'custom:crm' } })],
    [
      'a transform',
      draw('t', {
        t: {
          tool_name: 'json_transform',
          params: { expression: "len(a) > {'x'}".replace(/[{}]/g, '') },
        },
      }),
    ],
  ])('%s has no issues', (_, graph) => {
    expect(issuesOf(graph)).toEqual({ errors: [], warnings: [] });
  });
});

describe('errors', () => {
  const cases = casesOf({
    no_nodes: {
      'no nodes': draw(''),
    },
    duplicate_id: {
      'an id twice': graphSchema.parse({
        nodes: [
          { id: 'a', kind: 'merge' },
          { id: 'a', kind: 'merge' },
        ],
      }),
    },
    'dangling_edge dangling_edge': {
      'edges to and from nowhere': {
        ...draw('a'),
        edges: [
          { source: 'x', target: 'a' },
          { source: 'a', target: 'y' },
        ],
      },
    },
    duplicate_edge: {
      'an edge twice': {
        ...draw('a -> b'),
        edges: [...draw('a -> b').edges, ...draw('a -> b').edges],
      },
    },
    cycle: {
      'a cycle': draw('a -> b -> a'),
      'a node that leads to itself': draw('a -> a'),
      // l -> a -> l: the edge into the body is not marked 'true'
      'a loop without a mark': draw('s -> l -> a -> l'),
    },
    'cycle cycle': {
      'two cycles': draw('a -> b -> a\nd -> e -> d -> f'),
    },
    'loop_body_escape loop_body_entry cycle': {
      // l -true-> a -> b -> l,  s -> b
      'an edge into a body': draw('s -> l -true-> a -> b -> l\ns -> b'),
    },
    loop_body_escape: {
      // l -true-> a -> l -> e,  a -> e
      'an edge out of a body': draw('l -true-> a -> l -> e\na -> e'),
      // l1 -true-> l2 -true-> a -> l2 -> l1,  a -> l1
      'an inner body that leads to the outer loop': draw(
        'l1 -true-> l2 -true-> a -> l2 -> l1\na -> l1',
      ),
      'the same behind a start': draw('s -> l1 -true-> l2 -true-> a -> l2 -> l1\na -> l1'),
    },
    key_reserved: {
      'a node that sets secrets': draw('secrets -> a'),
      'an output under secrets': draw('a -> b', { a: { output_key: 'secrets' } }),
    },
    unknown_tool: {
      'an unknown tool': draw('t', { t: { tool_name: 'rm_rf' } }),
    },
    unknown_custom_tool: {
      'an unknown custom tool': draw('t', { t: { tool_name: 'custom:erp' } }),
    },
    host_is_a_reference: {
      'a request whose host comes from the run': draw('t', {
        t: { tool_name: 'http_request', params: { url: 'https://{host}/x' } },
      }),
      'an MCP server that comes from the run': draw('t', {
        t: { tool_name: 'mcp', params: { server_url: '{server}', tool: 'x' } },
      }),
    },
    expression_invalid: {
      'an expression that does not parse': draw('c -true-> a\nc -false-> b', {
        c: { expression: 'a = b' },
      }),
      'a transform that does not parse': draw('t', {
        t: { tool_name: 'json_transform', params: { expression: '1 +' } },
      }),
    },
  });
  test.each(cases)('$title', ({ graph, codes }) => {
    expect(issuesOf(graph).errors).toEqual(codes);
  });

  test.each(['c', 'l', 'm'])('an error edge of %s says where it can start', (id) => {
    const { errors } = checkGraph(draw(`${id} -error-> a`), context);
    const { kind } = draw(id).nodes[0]!;
    expect(errors).toEqual([
      {
        code: 'error_edge_not_allowed',
        message: `The edge from '${id}' to 'a' is never taken: a ${kind} has no errors to catch; start it at the agent, tool, map, workflow or gate whose error it handles`,
        node_id: id,
        path: 'edges[0].condition_value',
      },
    ]);
  });

  test('give the location and name the nodes', () => {
    const graph = draw('c -true-> t -> c\nc -false-> b', {
      c: { expression: 'x == ' },
      t: { tool_name: 'nope' },
    });
    expect(checkGraph(graph, context).errors).toEqual([
      {
        code: 'cycle',
        message: "The nodes 'c', 't' form a cycle; only a loop or map may repeat",
        node_id: 'c',
        path: 'nodes[0]',
      },
      {
        code: 'expression_invalid',
        message: `Node 'c': Expression "x == ", position 5: expected a value but found end`,
        node_id: 'c',
        path: 'nodes[0].expression',
        position: 5,
      },
      {
        code: 'unknown_tool',
        message: "Node 't': there is no tool 'nope'",
        node_id: 't',
        path: 'nodes[1].tool_name',
      },
    ]);
  });

  test('are reported for every limit', () => {
    const nodes = Array.from({ length: 1001 }, (_, at) => ({
      id: `n${at}`,
      kind: 'merge' as const,
    }));
    const edges = Array.from({ length: 5001 }, (_, at) => ({
      source: 'n0',
      target: `n${1 + (at % 1000)}`,
    }));
    const prompt = 'ä'.repeat(200_000);
    const long = Array.from({ length: 3 }, (_, at) => ({
      id: `a${at}`,
      kind: 'agent' as const,
      prompt,
    }));
    expect(issuesOf(graphSchema.parse({ nodes, edges })).errors).toEqual([
      'too_many_nodes',
      'too_many_edges',
    ]);
    expect(issuesOf(graphSchema.parse({ nodes: long })).errors).toEqual(['too_large']);
  });
});

describe('warnings', () => {
  const cases = casesOf({
    condition_branch_missing: {
      'a condition without either branch': draw('c -> a'),
      'a condition that ends the graph': draw('c'),
    },
    condition_value_ignored: {
      'an agent that cannot branch': draw('a -true-> b'),
    },
    none: {
      // a -error-> f: the handler reads the error, and only it
      'an error that a handler reads': [
        draw('a -error-> f -> m\na -> m', { a: { output_key: 'k' }, f: { prompt: '{a.error}' } }),
        [],
      ],
      'writes after an error and after success': draw('a -> b\na -error-> d', {
        b: { output_key: 'k' },
        d: { output_key: 'k' },
      }),
      // c -true-> a,  c -false-> b: never both
      'writes in two branches': draw('c -true-> a -> d\nc -false-> b', {
        d: { output_key: 'k' },
        b: { output_key: 'k' },
      }),
      'writes one after the other': draw('a -> b', {
        a: { output_key: 'k' },
        b: { output_key: 'k' },
      }),
      // l -true-> a -> l -> b: the body has ended when b starts
      'writes in a body and behind it': draw('l -true-> a -> l -> b', {
        a: { output_key: 'k' },
        b: { output_key: 'k' },
      }),
      'a subtraction of two keys that exist': draw('a -> b -> a-b -> c -true-> d\nc -false-> e', {
        c: { expression: 'a-b > 1' },
      }),
      'a key that may come with the input': draw('a', { a: { prompt: '{ticket}' } }),
      'a key the input has': [draw('a', { a: { prompt: '{ticket}' } }), ['ticket']],
      'a key like another in three letters': draw('abc -> b', { b: { prompt: '{abd}' } }),
      'a key set before': [draw('a -> b -> d', { d: { prompt: '{a} {b}' } }), []],
      'a key an approver may set': [draw('g -> a', { a: { prompt: '{note}' } }), []],
      // l -true-> a -> b -> l: a reads what b wrote in the previous iteration
      'a key of the round before': [
        draw('l -true-> a -> b -> l -> e', {
          a: { prompt: '{b} {l.iterations}' },
          l: { expression: 'b != 1' },
          e: { prompt: '{b}' },
        }),
        [],
      ],
    },
    key_not_set: {
      'the output of a node that has failed': [
        draw('a -error-> f', { a: { output_key: 'k' }, f: { prompt: '{k}' } }),
        [],
      ],
      'a key the input does not have': [draw('a', { a: { prompt: '{ticket}' } }), ['tickets']],
      // A likely typo is reported, although the input may contain any key.
      'a misspelt key': draw('draft -> b', { b: { prompt: '{drfat.text}' } }),
      'a key set later': draw('a -> b', { a: { prompt: '{b}' } }),
      'a key set on a parallel branch': draw('s -> a\ns -> b', { b: { prompt: '{a}' } }),
      'a key of a body read before the loop': draw('s -> l -true-> a -> l', {
        s: { prompt: '{a}' },
      }),
    },
    loop_without_return: {
      'a loop nothing leads back to': draw('l -true-> a'),
    },
    'loop_edge_not_taken loop_without_return': {
      // l -true-> a,  l -false-> a
      'a loop whose body is not its own': draw('l -true-> a\nl -false-> a'),
      // l1 -true-> l2 -true-> l1: each would be the body of the other
      'loops in each other': draw('l1 -true-> l2 -true-> l1'),
    },
    template_not_a_reference: {
      'a broken reference': draw('a', { a: { prompt: 'Hi {user.}' } }),
    },
    parallel_output_key: {
      // s -> a, s -> b, both write k
      'parallel writes': draw('s -> a\ns -> b', { a: { output_key: 'k' }, b: { output_key: 'k' } }),
      // l -true-> a -> l,  l -true-> b -> l: at the same time in each iteration
      'parallel writes in a body': draw('l -true-> a -> l\nl -true-> b -> l', {
        a: { output_key: 'k' },
        b: { output_key: 'k' },
      }),
    },
    key_not_readable: {
      'a hyphen that is a subtraction in an expression': draw(
        'a-map -> c -true-> d\nc -false-> e',
        {
          c: { expression: "len('a-map') > 3 and a-map.item > 1" },
          d: { prompt: '{a-map.item}' },
        },
      ),
      'a dot that is a field': draw('a.b -> d', { d: { prompt: '{a.b}' } }),
    },
    'key_not_readable key_not_set key_not_set': {
      'a key of the input with a hyphen': [
        draw('c -true-> a\nc -false-> b', { c: { expression: 'order-total > 1' } }),
        ['order-total'],
      ],
    },
  });
  test.each(cases)('$title', ({ graph, codes, inputKeys }) => {
    expect(issuesOf(graph, inputKeys)).toEqual({ errors: [], warnings: codes });
  });

  test('report the location of a key that cannot be read, and the correct name', () => {
    const graph = draw('a-map -> c -true-> d\nc -false-> e', { c: { expression: '1 < a-map' } });
    expect(checkGraph(graph, context).warnings).toEqual([
      {
        code: 'key_not_readable',
        message:
          "Node 'c': 'a-map' at position 4 is 'a' minus 'map'; to read that key, call it 'a_map'",
        ...{ node_id: 'c', path: 'nodes[1].expression', position: 4 },
      },
    ]);
  });

  test('are all about the key secrets in a graph from before it was reserved', () => {
    const graph = draw('secrets -> a');
    const { errors, warnings } = checkGraph(graph, { ...context, maySetSecrets: true });
    expect([codes(errors), codes(warnings)]).toEqual([[], ['key_reserved']]);
  });

  test('nodes after a cycle are unreachable', () => {
    const { errors, warnings } = checkGraph(draw('s -> e\na -> b -> a -> d'), context);
    expect(codes(errors)).toEqual(['cycle']);
    expect(warnings.map((issue) => issue.node_id)).toEqual(['a', 'b', 'd']);
  });

  test('do not make a graph invalid', () => {
    expect(checkGraph(draw('c -> a'), context).valid).toBe(true);
  });
});

describe('unvalidated drafts', () => {
  test('return the graph with defaults if valid', () => {
    const report = checkGraph({ nodes: [{ id: 'l', kind: 'loop', expression: 'false' }] }, context);
    expect(report.valid).toBe(true);
    expect(report.graph).toEqual({
      nodes: [{ id: 'l', kind: 'loop', expression: 'false', max_iterations: 5 }],
      edges: [],
    });
  });

  test.each([[null], ['graph'], [[]], [undefined]])('%j is not a graph', (value) => {
    expect(checkGraph(value, context)).toMatchObject({
      valid: false,
      errors: [{ code: 'not_a_graph' }],
    });
  });

  test.each<[unknown, string, string]>([
    [{}, 'no_nodes', 'nodes'],
    [{ nodes: {} }, 'invalid_value', 'nodes'],
    [{ nodes: [], edges: 1 }, 'invalid_value', 'edges'],
    [{ nodes: [{ id: 'a', kind: 'agent' }], view: {} }, 'unknown_key', 'view'],
    [{ nodes: [3] }, 'invalid_value', 'nodes[0]'],
    [{ nodes: [{ id: 'a' }] }, 'unknown_kind', 'nodes[0].kind'],
    [{ nodes: [{ id: 'a', kind: 'Agent' }] }, 'unknown_kind', 'nodes[0].kind'],
    [{ nodes: [{ kind: 'agent' }] }, 'invalid_value', 'nodes[0].id'],
    [{ nodes: [{ id: 'a#1', kind: 'agent' }] }, 'invalid_value', 'nodes[0].id'],
    [{ nodes: [{ id: 'constructor', kind: 'agent' }] }, 'invalid_value', 'nodes[0].id'],
    [
      { nodes: [{ id: 'a', kind: 'agent', output_key: '__proto__' }] },
      'invalid_value',
      'nodes[0].output_key',
    ],
    [{ nodes: [{ id: 'a', kind: 'agent', promt: 'x' }] }, 'unknown_key', 'nodes[0].promt'],
    [
      { nodes: [{ id: 'a', kind: 'agent', retry: { attempts: 3 } }] },
      'unknown_key',
      'nodes[0].retry.attempts',
    ],
    [
      { nodes: [{ id: 'a', kind: 'agent', retry: { max_attempts: 0 } }] },
      'invalid_value',
      'nodes[0].retry.max_attempts',
    ],
    [{ nodes: [{ id: 'a', kind: 'tool' }] }, 'invalid_value', 'nodes[0].tool_name'],
    [
      { nodes: [{ id: 'a', kind: 'merge', expression: 'true' }] },
      'unknown_key',
      'nodes[0].expression',
    ],
    [
      { nodes: [{ id: 'a', kind: 'merge' }], edges: [{ source: 'a' }] },
      'invalid_value',
      'edges[0].target',
    ],
    [
      {
        nodes: [
          { id: 'a', kind: 'merge' },
          { id: 'b', kind: 'merge' },
        ],
        edges: [{ source: 'a', target: 'b', when: 1 }],
      },
      'unknown_key',
      'edges[0].when',
    ],
  ])('%j is refused with %s at %s', (value, code, path) => {
    const report = checkGraph(value, context);
    expect(report.valid).toBe(false);
    expect(report.errors.map((issue) => [issue.code, issue.path])).toEqual([[code, path]]);
  });

  test('all errors of structure and meaning are reported together', () => {
    const report = checkGraph(
      {
        nodes: [
          { id: 'a', kind: 'agent', colour: 'red', prompt: '{x.}' },
          { id: 'a', kind: 'robot' },
          { id: 'c', kind: 'condition', expression: '1 +', label: 7 },
          { id: 't', kind: 'tool', tool_name: 'nope', timeout_seconds: -1 },
        ],
        edges: [
          7,
          { source: 'a', target: 'nobody' },
          { source: 'a', target: 'c', condition_value: 'yes' },
          { source: 't', target: 'zzz' },
        ],
        zoom: 2,
      },
      context,
    );
    expect(report.errors.map((issue) => [issue.code, issue.path])).toEqual([
      ['unknown_key', 'zoom'],
      ['unknown_key', 'nodes[0].colour'],
      ['unknown_kind', 'nodes[1].kind'],
      ['invalid_value', 'nodes[2].label'],
      ['invalid_value', 'nodes[3].timeout_seconds'],
      ['invalid_value', 'edges[0]'],
      ['invalid_value', 'edges[2].condition_value'],
      ['duplicate_id', 'nodes[1].id'],
      ['dangling_edge', 'edges[1].target'],
      ['dangling_edge', 'edges[3].target'],
      ['expression_invalid', 'nodes[2].expression'],
      ['unknown_tool', 'nodes[3].tool_name'],
    ]);
    expect(report.graph).toBeUndefined();
  });

  test('a structural error does not turn a loop into a cycle', () => {
    const nodes = [
      { id: 'l', kind: 'loop', max_iterations: 0, expression: 7 },
      { id: 'a', kind: 'agent' },
    ];
    const edges = [
      { source: 'l', target: 'a', condition_value: true },
      { source: 'a', target: 'l' },
    ];
    expect(codes(checkGraph({ nodes, edges }, context).errors)).toEqual([
      'invalid_value',
      'invalid_value',
      'invalid_value',
    ]);
  });

  test('a graph nested too deeply is refused early', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 200_000; level += 1) deep = [deep];
    const graph = { nodes: [{ id: 't', kind: 'tool', tool_name: 'delay', params: { deep } }] };
    expect(codes(checkGraph(graph, context).errors)).toEqual(['too_deep']);
  });
});

describe('fuzz', () => {
  const id = fc.constantFrom<unknown>('a', 'b', 'c', '', '__proto__', 'a#1', 7, null);
  const node = fc.record(
    {
      id,
      kind: fc.constantFrom<unknown>(
        'agent',
        'tool',
        'condition',
        'loop',
        'human_gate',
        'merge',
        'other',
        1,
      ),
      expression: fc.constantFrom<unknown>('a > 1', '1 +', '', {}, 'b.c'),
      tool_name: fc.constantFrom<unknown>('delay', 'custom:crm', 'custom:', 'json_transform', 0),
      params: fc.jsonValue(),
      prompt: fc.constantFrom<unknown>('{a}', '{a.', 1),
    },
    { requiredKeys: [] },
  );
  const edge = fc.record(
    {
      source: id,
      target: id,
      condition_value: fc.constantFrom<unknown>('true', 'false', true, null, undefined),
    },
    { requiredKeys: [] },
  );
  const almost = fc.record({
    nodes: fc.array(
      fc.oneof({ weight: 9, arbitrary: node }, { weight: 1, arbitrary: fc.jsonValue() }),
      { maxLength: 6 },
    ),
    edges: fc.array(
      fc.oneof({ weight: 9, arbitrary: edge }, { weight: 1, arbitrary: fc.jsonValue() }),
      { maxLength: 8 },
    ),
  });

  test('any JSON gets a report, and valid graphs compile', () => {
    const check = (value: unknown): void => {
      const report = checkGraph(value, { ...context, inputKeys: ['a'] });
      expect(report.valid).toBe(report.errors.length === 0);
      if (report.valid) expect(() => compileGraph(report.graph!)).not.toThrow();
    };
    fc.assert(fc.property(almost, check), { numRuns: 4000 });
    fc.assert(fc.property(fc.jsonValue(), check), { numRuns: 500 });
    fc.assert(fc.property(fc.record({ nodes: fc.jsonValue(), edges: fc.jsonValue() }), check), {
      numRuns: 500,
    });
  });

  test('valid graphs stay valid after a JSON round trip', () => {
    fc.assert(
      fc.property(randomGraph, (graph) => {
        const report = checkGraph(JSON.parse(JSON.stringify(graph)), {
          ...context,
          tools: generatedTools,
        });
        expect(report.errors).toEqual([]);
        expect(report.graph).toEqual(graph);
      }),
      { numRuns: 200 },
    );
  });
});

soakDescribe('performance', () => {
  const loop = { kind: 'loop', expression: 'x', prompt: undefined, output_key: undefined };
  /** Each of the first nodes leads to the next five. */
  const forward = (at: number, nodes: number): [number, number] => {
    const from = at % (nodes - 5);
    return [from, from + 1 + Math.floor(at / (nodes - 5))];
  };
  const tangled = (at: number, nodes: number): [number, number] => [
    at % nodes,
    (at * 7919) % nodes,
  ];

  test.each([
    ['agents that all write one key', forward, { kind: 'agent' }],
    ['loops', forward, loop],
    ['loops tangled beyond hope', tangled, loop],
  ])('a check takes linear time in the size of a graph: %s', (_, edges, kind) => {
    const check = (nodes: number) => {
      const graph = {
        nodes: Array.from({ length: nodes }, (_each, at) => ({
          ...{ id: `n${at}`, prompt: '{n0} {n1}', output_key: 'k' },
          ...kind,
        })),
        edges: Array.from({ length: 5 * nodes }, (_each, at) => {
          const [from, to] = edges(at, nodes);
          return { source: `n${from}`, target: `n${to}` };
        }),
      };
      const text = JSON.stringify(graph);
      return () => checkGraph(JSON.parse(text), context);
    };
    expect(growth(check, 1_000)).toBeLessThan(3);
  });
});

describe('parameters of built-in tools', () => {
  const messages = (params: Record<string, unknown>, tool_name = 'http_request'): string[] => {
    const graph = { nodes: [{ id: 't', kind: 'tool', tool_name, params }], edges: [] };
    const all = new Set([...context.tools, 'send_email']);
    return checkGraph(graph, { ...context, tools: all }).errors.map(
      ({ code, message, path }) => `${code} ${path}: ${message}`,
    );
  };

  test.each([
    [{ url: 'https://x.test/' }, 'http_request', []],
    [
      {},
      'http_request',
      ["missing_param nodes[0].params: Node 't': http_request needs the parameter 'url'"],
    ],
    [
      { url: 'https://x.test/', bdy: 1 },
      'http_request',
      ["unknown_param nodes[0].params.bdy: Node 't': http_request has no parameter 'bdy'"],
    ],
    [
      { url: 'https://x.test/', heders: {} },
      'http_request',
      [
        "unknown_param nodes[0].params.heders: Node 't': http_request has no parameter 'heders'; did you mean 'headers'?",
      ],
    ],
    [
      { to: 'a@x.test', subject: 's', body: 'b' },
      'send_email',
      [
        "missing_param nodes[0].params: Node 't': send_email needs the parameter 'text' or 'html'",
        "unknown_param nodes[0].params.body: Node 't': send_email has no parameter 'body'",
      ],
    ],
    [
      {},
      'json_transfrom',
      [
        "unknown_tool nodes[0].tool_name: Node 't': there is no tool 'json_transfrom'; did you mean 'json_transform'?",
      ],
    ],
    [
      { constructor: 1, seconds: 1 },
      'delay',
      ["unknown_param nodes[0].params.constructor: Node 't': delay has no parameter 'constructor'"],
    ],
  ])('of %j for %s', (params, tool, expected) => {
    expect(messages(params, tool)).toEqual(expected);
  });
});

test('a model whose provider has no API key is a warning, even as a fallback', () => {
  const graph = draw('a', { a: { model: 'openai/x', fallback_models: ['mock', 'anthropic/y'] } });
  const unavailableProviders = { anthropic: 'ANTHROPIC_API_KEY is not set' };
  const { warnings, valid } = checkGraph(graph, { ...context, unavailableProviders });
  expect(valid).toBe(true);
  expect(warnings).toEqual([
    {
      code: 'model_not_available',
      message: "Node 'a': ANTHROPIC_API_KEY is not set",
      node_id: 'a',
      path: 'nodes[0].fallback_models[1]',
    },
  ]);
});

test.each<[unknown, string[]]>([
  [
    '{page}',
    [
      "Node 't': {page} is sent as HTML unchanged, with any markup in its value; inside other text, such as <p>{page}</p>, it is escaped",
    ],
  ],
  ['<p>{page}</p>', []],
  ['<p></p>', []],
])('HTML that is a single value is a warning: %j', (html, expected) => {
  const params = { to: 'a@example.com', subject: 'x', html } as never;
  const graph = draw('t', { t: { tool_name: 'send_email', params } });
  const { warnings } = checkGraph(graph, { ...context, tools: new Set(['send_email']) });
  expect(warnings.filter(({ code }) => code === 'html_not_escaped')).toEqual(
    expected.map((message) => ({
      code: 'html_not_escaped',
      message,
      node_id: 't',
      path: 'nodes[0].params.html',
    })),
  );
});

test.each([
  ['{name}={value}', ['form_not_encoded']],
  ['a={value}&{more}', ['form_not_encoded']],
  ['a={value}&b=1', []],
  ['{form}', []],
  ['a=1', []],
])('a form whose values are not encoded is a warning: %j', (body, expected) => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  const params = { url: 'https://a.example/', method: 'POST', headers, body };
  const graph = draw('t', { t: { tool_name: 'http_request', params } });
  const { warnings } = checkGraph(graph, { ...context, tools: new Set(['http_request']) });
  expect(warnings.map(({ code }) => code).filter((code) => code.startsWith('form'))).toEqual(
    expected,
  );
});
