import { describe, expect, test } from '@jest/globals';
import type { GraphIssue } from '#shared/contract/workflows/graph.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { callKey } from '#shared/graph/children/called-workflows.ts';
import { type CostLimits, costWarnings } from '#shared/graph/validate/costs.ts';
import type { ValidationContext } from '#shared/graph/validate/context.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { builtinTools } from '#shared/tools.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

const custom = (input_schema: JsonObject | null) => ({ label: '', description: '', input_schema });
const context: ValidationContext = {
  tools: builtinTools,
  customTools: new Map([
    ['refund', custom({ type: 'object', properties: { amount: {} }, additionalProperties: false })],
    ['plain', custom(null)],
  ]),
  workflows: new Map([['self', { name: 'Self', description: '', input_schema: {} }]]),
  calls: {
    [callKey({ workflow: 'self' })]: { code: 'workflow_cycle', message: 'It would start itself' },
    [callKey({ workflow: 'triage' })]: { code: 'workflow_unknown', message: 'Unknown' },
  },
};

/** The report on a graph with one agent, and before it an agent that sets `ticket`. */
function report(fields: JsonObject, inputKeys: string[] = []) {
  const graph = {
    nodes: [
      { id: 'first', kind: 'agent', output_key: 'ticket' },
      { id: 'a', kind: 'agent', ...fields },
    ],
    edges: [{ source: 'first', target: 'a' }],
  };
  return checkGraph(graph, { ...context, inputKeys });
}
const brief = (issues: readonly GraphIssue[]) =>
  issues.map(({ code, path }) => [code, path?.replace('nodes[1].', '')]);
const withTools = (...tools: Json[]) => ({ tools });

describe('an agent with tools', () => {
  test('has no issues when everything is valid', () => {
    const { errors, warnings } = report({
      tools: [
        'http_request',
        {
          name: 'custom:refund',
          approval: 'args.amount > 100 and ticket.open',
          max_calls: 2,
          on_error: 'fail',
        },
        {
          name: 'custom:plain',
          parameters: { type: 'object', properties: { id: {} } },
          fixed: { order: '{ticket.id}' },
        },
      ],
      max_turns: 5,
      tool_choice: 'required',
      on_max_turns: 'answer',
      mock: {
        turns: [
          { calls: [{ tool: 'custom:refund', arguments: { amount: '{ticket.amount}' } }] },
          { output: 'done' },
        ],
      },
    });
    expect({ errors, warnings }).toEqual({ errors: [], warnings: [] });
  });

  test.each<[string, JsonObject, [string, string][]]>([
    ['an unknown tool', withTools('rm_rf'), [['unknown_tool', 'tools[0]']]],
    [
      'a custom tool that is not registered',
      withTools('http_request', 'custom:erp'),
      [['unknown_custom_tool', 'tools[1]']],
    ],
    ['a tool without a schema', withTools('custom:plain'), [['tool_without_schema', 'tools[0]']]],
    [
      'a tool twice',
      withTools('json_transform', { name: 'json_transform' }),
      [['duplicate_tool', 'tools[1]']],
    ],
    ['a timer', withTools('delay'), [['tool_not_for_agents', 'tools[0]']]],
    ['any MCP tool', withTools('mcp'), [['tool_not_for_agents', 'tools[0]']]],
    [
      'a workflow that does not exist',
      withTools('workflow:triage'),
      [['workflow_unknown', 'tools[0]']],
    ],
    [
      'a workflow that would start itself',
      withTools('http_request', 'workflow:self'),
      [['workflow_cycle', 'tools[1]']],
    ],
    [
      'a fixed argument that does not exist',
      withTools({ name: 'custom:refund', fixed: { sum: 5 } }),
      [['unknown_param', 'tools[0].fixed.sum']],
    ],
    [
      'an approval that does not parse',
      withTools({ name: 'custom:refund', approval: 'args.amount >' }),
      [['expression_invalid', 'tools[0].approval']],
    ],
    [
      'an approval that is misspelled',
      withTools({ name: 'custom:refund', approval: 'Always' }),
      [['approval_unknown', 'tools[0].approval']],
    ],
    [
      'a fixed host from the run',
      withTools({ name: 'http_request', fixed: { url: 'https://{ticket.host}/x' } }),
      [['host_is_a_reference', 'tools[0].fixed.url']],
    ],
    [
      'fixed headers for any server',
      withTools({ name: 'http_request', fixed: { headers: { authorization: 'x' } } }),
      [['headers_without_url', 'tools[0].fixed.headers']],
    ],
    [
      'options without tools',
      { max_turns: 3, tool_choice: 'auto', on_max_turns: 'fail', mock: { turns: [] } },
      [
        ['needs_tools', 'max_turns'],
        ['needs_tools', 'tool_choice'],
        ['needs_tools', 'on_max_turns'],
        ['needs_tools', 'mock.turns'],
      ],
    ],
  ])('is refused with %s', (_, fields, expected) => {
    const { valid, errors } = report(fields, ['x']);
    expect(brief(errors)).toEqual(expected);
    expect(valid).toBe(false);
    expect(errors.every(({ node_id }) => node_id === 'a')).toBe(true);
  });

  test('keeps references after the host of a fixed URL', () => {
    const fixed = { url: 'https://api.test/{ticket.id}', headers: { authorization: 'x' } };
    expect(report(withTools({ name: 'http_request', fixed })).errors).toEqual([]);
  });

  test.each<[string, Json, string, string]>([
    [
      'max_calls of 0',
      { name: 'custom:refund', max_calls: 0 },
      'nodes[1].tools[0].max_calls',
      'nodes[1].tools[0].max_calls must be at least 1',
    ],
    [
      'an unknown option',
      { name: 'custom:refund', retries: 3 },
      'nodes[1].tools[0].retries',
      "nodes[1].tools[0]: unknown key 'retries'",
    ],
    [
      'another on_error',
      { name: 'custom:refund', on_error: 'ignore' },
      'nodes[1].tools[0].on_error',
      'nodes[1].tools[0].on_error must be one of "tell", "fail"',
    ],
    ['a number', 5, 'nodes[1].tools[0]', 'nodes[1].tools[0] is invalid'],
    ['an empty name', '', 'nodes[1].tools[0]', 'nodes[1].tools[0] must not be empty'],
  ])('reports only the location of %s', (_, tool, path, message) => {
    const { errors, graph } = report({ tools: [tool], max_turns: 3, mock: { turns: [] } });
    expect(errors).toMatchObject([{ path, message }]);
    expect(graph).toBeUndefined();
  });

  test('has at least one tool and at most 64', () => {
    const many = Array.from({ length: 65 }, (_each, at) => `custom:unknown_tool_${at}`);
    expect(brief(report({ tools: many }).errors)).toEqual([['invalid_value', 'tools']]);
    expect(brief(report({ tools: [] }).errors)).toEqual([['invalid_value', 'tools']]);
  });
});

describe('warnings', () => {
  test('keys that nothing sets are reported in fixed arguments, approvals and mock calls', () => {
    const { errors, warnings } = report({
      tools: [
        { name: 'custom:refund', approval: 'args.amount > limit', fixed: { amount: '{sum}' } },
      ],
      mock: { turns: [{ calls: [{ tool: 'custom:refund', arguments: { deep: ['{other}'] } }] }] },
    });
    expect(errors).toEqual([]);
    expect(brief(warnings)).toEqual([
      ['key_not_set', 'tools[0].approval'],
      ['key_not_set', 'tools[0].fixed.amount'],
      ['key_not_set', 'mock.turns[0].calls[0].arguments.deep[0]'],
    ]);
    expect(warnings.map(({ message }) => message).join()).not.toContain("'args'");
  });

  test('args is a key of the state everywhere else', () => {
    const fields = { ...withTools('http_request'), prompt: '{args.amount}' };
    expect(brief(report(fields).warnings)).toEqual([['key_not_set', 'prompt']]);
  });

  test('braces that are not a reference are reported in fixed arguments', () => {
    const { errors, warnings } = report(
      withTools({ name: 'custom:refund', fixed: { amount: '{ticket .amount}' } }),
    );
    expect(errors).toEqual([]);
    expect(brief(warnings)).toEqual([['template_not_a_reference', 'tools[0].fixed.amount']]);
  });

  test('a script can call a tool that is not offered', () => {
    const { errors, warnings } = report({
      ...withTools('http_request'),
      mock: { turns: [{ calls: [{ tool: 'http_request' }, { tool: 'rm_rf' }] }] },
    });
    expect(errors).toEqual([]);
    expect(brief(warnings)).toEqual([['mock_tool_not_offered', 'mock.turns[0].calls[1].tool']]);
  });
});

soakTest('many agents with many unknown tools are checked in linear time', () => {
  const check = (agents: number) => {
    const tools = Array.from({ length: 3 }, (_each, at) => `custom:unknown_tool_${at}`);
    const nodes = Array.from({ length: agents }, (_each, at) => ({
      id: `n${at}`,
      kind: 'agent',
      tools,
    }));
    // A comparison of each unknown name with each of these is quadratic.
    const customTools = new Map(
      Array.from(
        { length: agents / 2 },
        (_each, at) => [`another_tool_${at}`, custom(null)] as const,
      ),
    );
    return () => checkGraph({ nodes, edges: [] }, { ...context, customTools });
  };
  expect(check(1_000)().errors).toHaveLength(1_000);
  expect(growth(check, 1_000)).toBeLessThan(3);
});

describe('under a cap or a budget', () => {
  const prices = { 'lab/small': { inputUsd: 1, outputUsd: 10 } };
  const warned = (node: object, limits: Partial<CostLimits> = {}) =>
    costWarnings(
      { nodes: [{ id: 'a', kind: 'agent', model: 'lab/small', ...node } as never] },
      {
        ...{ limited: true, capMicros: null, prices },
        ...limits,
      },
    ).map(({ code, path }) => [code, path]);

  test('an agent without a maximum cost, or without a price, gets a warning', () => {
    expect(warned({ max_output_tokens: 10 })).toEqual([]);
    expect(warned({ tools: ['json_transform'] })).toEqual([]);
    expect(warned({ model: 'mock' })).toEqual([]);
    expect(warned({})).toEqual([['cost_without_bound', 'nodes[0].max_output_tokens']]);
    expect(warned({ max_output_tokens: 10, fallback_models: ['lab/none'] })).toEqual([
      ['model_without_price', 'nodes[0].model'],
    ]);
    expect(warned({}, { limited: false })).toEqual([]);
  });

  test('an agent whose first request does not fit the cap gets a warning that names both', () => {
    const cap = { capMicros: 10_000 };
    expect(warned({ max_output_tokens: 900 }, cap)).toEqual([]);
    expect(warned({ max_output_tokens: 901 }, cap)).toEqual([
      ['cap_below_request', 'nodes[0].max_output_tokens'],
    ]);
    expect(warned({ model: 'mock', mock: { cost_usd: 0.02 } }, cap)).toHaveLength(1);
    const turns = { turns: [{ cost_usd: 0.01 }, { cost_usd: 0.02 }] };
    expect(warned({ model: 'mock', tools: ['x'], mock: turns }, cap)).toEqual([]);
    const node = { id: 'a', kind: 'agent', model: 'lab/small', max_output_tokens: 4_095_900 };
    expect(
      costWarnings({ nodes: [node as never] }, { limited: true, ...cap, prices })[0]?.message,
    ).toBe(
      "Node 'a': its first request may cost $40.96, more than the cap of $0.01, so the run stops before it: raise the cap, " +
        'or lower max_output_tokens',
    );
  });
});
