import { expect, test } from '@jest/globals';
import { checkGraph } from '#shared/graph/graph-check.ts';

const wait = { id: 'paid', kind: 'wait', callback: true };
const ask = (body: unknown, id = 'ask') => ({
  id,
  kind: 'tool',
  tool_name: 'http_request',
  params: { url: 'https://partner.example/', method: 'POST', body },
});
const edge = (source: string, target: string, condition_value?: string) => ({
  source,
  target,
  ...(condition_value === undefined ? {} : { condition_value }),
});

const issues = (nodes: object[], edges: object[] = [], more: object = {}) => {
  const context = { tools: new Set<string>(), customTools: new Map(), ...more };
  const found = checkGraph({ nodes, edges }, context as never);
  return [...found.errors, ...found.warnings].flatMap(({ code, path, message }) =>
    code === 'unknown_tool' ? [] : [[code, path, message]],
  );
};
const problems = (...given: Parameters<typeof issues>) =>
  issues(...given).map(([code, path]) => [code, path]);

test('an address can be sent before the wait, and beside it', () => {
  expect(issues([ask({ to: '{callbacks.paid}' }), wait], [edge('ask', 'paid')])).toEqual([]);
  expect(issues([ask({ to: '{callbacks.paid}' }), wait])).toEqual([]);
});

test.each<[string, object]>([
  ['headers', { ...ask(null), params: { url: 'x', headers: { 'X-To': '{callbacks.paid}' } } }],
  ['a form', ask('to={callbacks.paid}')],
  ['an mcp', { ...ask(null), tool_name: 'mcp', params: { arguments: { to: '{callbacks.paid}' } } }],
  ['a mail', { ...ask(null), tool_name: 'send_email', params: { text: 'At {callbacks.paid}' } }],
  [
    'a chat',
    { ...ask(null), tool_name: 'send_chat_message', params: { text: '{callbacks.paid}' } },
  ],
  [
    'an agent',
    {
      id: 'ask',
      kind: 'agent',
      model: 'mock/m',
      tools: [{ name: 'http_request', fixed: { url: 'x', body: '{callbacks.paid}' } }],
    },
  ],
])('%s can tell it', (_, node) => {
  const codes = problems([node, wait], [edge('ask', 'paid')]).map(([code]) => code);
  expect(codes.filter((code) => code!.includes('callback'))).toEqual([]);
});

test.each<[string, object, string, string]>([
  ['missing', ask('{callbacks.payd}'), 'unknown_callback', 'nodes[0].params.body'],
  ['of another kind', ask('{callbacks.other}'), 'unknown_callback', 'nodes[0].params.body'],
  ['not named', ask('{callbacks}'), 'callback_name_invalid', 'nodes[0].params.body'],
  ['too long', ask('{callbacks.paid.url}'), 'callback_name_invalid', 'nodes[0].params.body'],
  [
    'in a url',
    { ...ask(null), params: { url: 'https://x.example/{callbacks.paid}' } },
    'callback_not_allowed',
    'nodes[0].params.url',
  ],
  [
    'in a prompt',
    { id: 'ask', kind: 'agent', prompt: '{callbacks.paid}' },
    'callback_not_allowed',
    'nodes[0].prompt',
  ],
  [
    'in an expression',
    { id: 'ask', kind: 'condition', expression: 'callbacks.paid' },
    'callback_not_allowed',
    'nodes[0].expression',
  ],
  [
    'in a record',
    { ...ask(null), tool_name: 'send_event', params: { name: 'a', data: '{callbacks.paid}' } },
    'callback_not_allowed',
    'nodes[0].params.data',
  ],
])('a reference that is %s', (_, node, code, path) => {
  const other = { id: 'other', kind: 'merge' };
  const found = problems([node, wait, other], [edge('ask', 'paid')]);
  expect(found).toContainEqual([code, path]);
});

test('the messages name the closest callback, and say what to do', () => {
  const messages = (body: string) =>
    issues([ask(body), wait, { id: 'other', kind: 'wait', seconds: 1 }])
      .filter(([code]) => code === 'unknown_callback')
      .map(([, , message]) => message);
  expect(messages('{callbacks.payd}')).toEqual([
    "Node 'ask': there is no callback 'payd'; did you mean 'paid'?",
  ]);
  expect(messages('{callbacks.else}')).toEqual([
    "Node 'ask': there is no callback 'else', because there is no such node: add a wait with `callback`, or name another one",
  ]);
  expect(messages('{callbacks.other}')).toEqual([
    "Node 'ask': 'other' does not wait for a callback: set its `callback` instead of what it waits for, or name another node",
  ]);
});

test('a wait for an event has no address', () => {
  const event = { ...wait, callback: undefined, event: { name: 'paid' } };
  expect(problems([ask('{callbacks.paid}'), event])).toContainEqual([
    'unknown_callback',
    'nodes[0].params.body',
  ]);
});

test('an address that nothing tells is a warning', () => {
  expect(problems([wait])).toEqual([['callback_not_sent', 'nodes[0].callback']]);
});

test('an address is of no use after the wait', () => {
  expect(problems([wait, ask('{callbacks.paid}')], [edge('paid', 'ask')])).toEqual([
    ['callback_not_reachable', 'nodes[1].params.body'],
  ]);
});

test('each item has an address of its own, which only its nodes can tell', () => {
  const map = { id: 'm', kind: 'map', items: '[1, 2]' };
  const inside = [edge('m', 'ask', 'true'), edge('ask', 'paid'), edge('paid', 'm')];
  expect(issues([map, ask('{callbacks.paid}'), wait], inside)).toEqual([]);
  const outside = [edge('ask', 'm'), edge('m', 'paid', 'true'), edge('paid', 'm')];
  const [found] = issues([map, ask('{callbacks.paid}'), wait], outside);
  expect(found?.[2]).toBe(
    "Node 'ask': 'paid' is in the map 'm', where each item has an address of its own: tell it from a node in the map",
  );
});

test('a node in a map can send the address of a wait after it', () => {
  const map = { id: 'm', kind: 'map', items: '[1, 2]' };
  const edges = [edge('m', 'ask', 'true'), edge('ask', 'm'), edge('m', 'paid')];
  expect(issues([map, ask('{callbacks.paid}'), wait], edges)).toEqual([]);
});

test('without such a wait, callbacks is a key like any other', () => {
  const merge = { id: 'callbacks', kind: 'merge' };
  const reads = ask('{callbacks.paid}');
  expect(problems([merge, reads], [edge('callbacks', 'ask')])).toEqual([]);
  expect(problems([reads], [], { inputKeys: ['callbacks'] })).toEqual([]);
  expect(problems([reads])).toEqual([['unknown_callback', 'nodes[0].params.body']]);
  expect(problems([merge, wait, ask('{callbacks.paid}')])).toContainEqual([
    'key_reserved',
    'nodes[0].id',
  ]);
});
