import { describe, expect, test } from '@jest/globals';
import { drawingOf } from '#console/src/graph/drawn.ts';
import { linesOf } from '#console/src/graph/node-lines.ts';
import { conditionOf, portOf, portsOf, usedPorts } from '#console/src/graph/ports.ts';
import { nodeKinds } from '#shared/graph/kinds.ts';

const drawn = (nodes: object[], edges: object[] = []) =>
  drawingOf({ nodes, edges } as unknown as Parameters<typeof drawingOf>[0]);
const lines = (fields: object) => linesOf(drawn([{ id: 'n', ...fields }]).nodes[0]!);
const doing = (fields: object): string => lines(fields).does;

describe('the lines of a card', () => {
  test.each([
    ['its model', { kind: 'agent', model: 'openrouter/anthropic/claude' }, 'claude'],
    [
      'its model and tools',
      { kind: 'agent', tools: ['feed_list', { name: 'custom:refund' }] },
      'mock · feed_list, refund',
    ],
    [
      'method and host',
      {
        kind: 'tool',
        tool_name: 'http_request',
        params: { url: 'https://api.acme.dev/v1/{id}', method: 'POST' },
      },
      'http_request · POST api.acme.dev',
    ],
    [
      'the beginning of a template',
      { kind: 'tool', tool_name: 'http_request', params: { url: '{base}/orders' } },
      'http_request · GET {base}/orders',
    ],
    [
      'the server and its tool',
      {
        kind: 'tool',
        tool_name: 'mcp',
        params: { server_url: 'https://mcp.acme.dev/', tool: 'find' },
      },
      'mcp · find · mcp.acme.dev',
    ],
    [
      'an expression on one line',
      { kind: 'tool', tool_name: 'json_transform', params: { expression: 'total\n  * 1.19' } },
      'json_transform · total * 1.19',
    ],
    ['a custom tool', { kind: 'tool', tool_name: 'custom:crm', params: {} }, 'crm'],
    ['no tool yet', { kind: 'tool', tool_name: '' }, 'no tool yet'],
    [
      'the first line of code',
      { kind: 'code', source: '\n// Adds up\nexport default () => 1;' },
      'Adds up',
    ],
    ['no code', { kind: 'code' }, 'no code'],
    ['a condition', { kind: 'condition', expression: 'score > 3' }, 'score > 3'],
    ['a loop', { kind: 'loop', expression: 'open > 0' }, 'while open > 0'],
    ['a map', { kind: 'map', items: 'order.lines' }, 'each item of order.lines'],
    [
      'a child workflow',
      { kind: 'workflow', workflow: 'Ship it', version: 3 },
      'Ship it · version 3',
    ],
    ['no child workflow yet', { kind: 'workflow', workflow: '' }, 'no workflow yet'],
    [
      'who approves, and how many',
      {
        kind: 'human_gate',
        approvers: { roles: ['admin'], members: ['usr_1', 'usr_2'] },
        required: 2,
      },
      'admin or 2 members · 2 approvals',
    ],
    ['any approver', { kind: 'human_gate', required: 1 }, 'Anyone who can approve'],
    ['a merge', { kind: 'merge' }, 'Joins branches'],
  ])('name %s', (_what, fields, expected) => expect(doing(fields)).toBe(expected));

  test('exist for every kind, also with the mistakes of a draft', () => {
    for (const kind of nodeKinds) {
      for (const fields of [{}, { model: 5, tools: {}, params: [], approvers: [], approval: 1 }]) {
        expect(doing({ kind, ...fields })).not.toBe('');
      }
    }
  });

  test('say which steps a person is asked about', () => {
    const tools = [
      { name: 'send_email', approval: 'always' },
      { name: 'custom:refund', approval: 'args.amount > 100' },
      { name: 'feed_list', approval: 'never' },
    ];
    expect(lines({ kind: 'agent', tools }).asks).toBe(
      'asks before send_email, may ask before refund',
    );
    expect(lines({ kind: 'agent', tools: ['send_email'] }).asks).toBeUndefined();
    const pay = { kind: 'tool', tool_name: 'custom:pay', params: {} };
    expect(lines({ ...pay, approval: { when: 'always', required: 2 } }).asks).toBe(
      'asks before pay',
    );
    expect(lines({ ...pay, approval: 'never' }).asks).toBeUndefined();
    const child = { kind: 'workflow', workflow: 'Ship', approval: 'total > 5' };
    expect(lines(child).asks).toBe('may ask before Ship');
    expect(lines(child).title).toBe('Ship\nmay ask before Ship');
  });
});

describe('the ports of a node', () => {
  const names = (fields: object, used?: string) =>
    portsOf(drawn([{ id: 'n', ...fields }]).nodes[0]!, used).map(({ name }) => name);

  test.each([
    ['agent', [undefined, 'On error']],
    ['tool', [undefined, 'On error']],
    ['workflow', [undefined, 'On error']],
    ['condition', ['Yes', 'No']],
    ['loop', ['Repeat', 'Done']],
    ['map', ['Each item', 'Done', 'On error']],
    ['human_gate', ['Approved', 'Rejected', 'On error']],
    ['merge', [undefined]],
  ])('of the kind %s have names', (kind, expected) => expect(names({ kind })).toEqual(expected));

  test('are from top to bottom, apart, with the only way on in the middle', () => {
    for (const kind of nodeKinds) {
      const at = portsOf(drawn([{ id: 'n', kind }]).nodes[0]!).map((port) => port.at);
      at.slice(1).forEach((height, index) => expect(height - at[index]!).toBeGreaterThan(0.2));
      if (at.length !== 3) continue;
      expect(at[1]).toBe(0.5);
    }
    expect(portsOf(drawn([{ id: 'n', kind: 'agent' }]).nodes[0]!)[0]!.at).toBe(0.5);
  });

  test('include those that only an edge of the draft uses', () => {
    expect(names({ kind: 'condition' }, 'next,true')).toEqual(['Yes', 'Always', 'No']);
    expect(names({ kind: 'merge' }, 'true')).toEqual(['Yes', undefined]);
  });

  test('of a wait are those that it can take', () => {
    expect(names({ kind: 'wait', event: { name: 'paid' } })).toContain('Came');
    expect(names({ kind: 'wait', seconds: 60 })).toEqual([undefined, 'On error']);
    expect(names({ kind: 'wait', until: '{due}' })).toEqual([undefined, 'On error']);
    expect(doing({ kind: 'wait', seconds: 604_800 })).toBe('7 d');
    expect(doing({ kind: 'wait', seconds: 5 })).toBe('5 s');
  });

  test('of a gate say which one it takes at its deadline', () => {
    const late = (action: string) =>
      portsOf(drawn([{ id: 'n', kind: 'human_gate', on_timeout: action }]).nodes[0]!)
        .filter(({ atDeadline }) => atDeadline)
        .map(({ about }) => about);
    expect(late('approve')).toEqual(['Approved, or no decision before the deadline']);
    expect(late('reject')).toEqual(['Rejected, or no decision before the deadline']);
    expect(late('fail')).toEqual(['On error, or no decision before the deadline']);
  });

  test('belong to the edges of the graph', () => {
    const drawing = drawn(
      [
        { id: 'each', kind: 'map' },
        { id: 'ask', kind: 'agent' },
      ],
      [
        { source: 'each', target: 'ask', condition_value: 'true' },
        { source: 'ask', target: 'each' },
        { source: 'each', target: 'ask' },
      ],
    );
    expect(Object.fromEntries(usedPorts(drawing))).toEqual({ each: 'false,true', ask: 'next' });
    expect(portOf('condition', undefined)).toBe('next');
    expect([conditionOf('next'), conditionOf('error')]).toEqual([undefined, 'error']);
  });
});
