import { describe, expect, test } from '@jest/globals';
import { checkGraph } from '#shared/graph/graph-check.ts';

const context = {
  tools: new Set(['http_request', 'json_transform', 'send_email']),
  customTools: new Map(),
};

const request = (id: string, method: string, more: object = {}) => ({
  ...{ id, kind: 'tool', tool_name: 'http_request' },
  params: { url: 'https://bank.test/', method, ...more },
});
const get = (id: string) => request(id, 'GET');
const pay = (amount: string, more: object = {}) => ({
  ...request('pay', 'POST', { body: { amount } }),
  ...more,
});
const gate = (more: object = { covers: 'all' }) => ({ id: 'ok', kind: 'human_gate', ...more });
const double = (expression: string) => ({
  ...{ id: 'double', kind: 'tool', tool_name: 'json_transform' },
  params: { expression },
});

/** Edges along a path, like `ok true pay`. */
function path(text: string) {
  const parts = text.split(' ');
  const edges: object[] = [];
  for (let at = 0; at + 1 < parts.length;) {
    const [source, next] = [parts[at]!, parts[at + 1]!];
    const isWay = ['true', 'false', 'error'].includes(next);
    const target = isWay ? parts[at + 2]! : next;
    edges.push({ source, target, ...(isWay ? { condition_value: next } : {}) });
    at += isWay ? 2 : 1;
  }
  return edges;
}

const found = (nodes: readonly object[], ...paths: string[]): string[] => {
  const { errors, warnings } = checkGraph({ nodes, edges: paths.flatMap(path) }, context);
  return [...errors, ...warnings]
    .filter(({ code }) => code.startsWith('gate_'))
    .map(({ code, message }) => `${code}: ${message}`);
};

const doesNot = (what: string): string =>
  `gate_does_not_cover: Node 'ok': it does not cover ${what}`;
const reads = `'pay', whose body.amount reads`;
const ask = `give 'pay' an approval: 'always'`;

describe('a gate with covers', () => {
  test.each<[string, object[], string[]]>([
    ['the input', [gate(), pay('{amount}')], ['ok true pay']],
    ['a read before the gate', [get('q'), gate(), pay('{q.body}')], ['q ok true pay']],
    ['what is computed', [gate(), double('2 * amount'), pay('{double}')], ['ok true double pay']],
    [
      'what is asked by the step',
      [gate(), get('q'), pay('{q.body}', { approval: 'always' })],
      ['ok true q pay'],
    ],
    [
      'known items',
      [gate(), { id: 'm', kind: 'map', items: 'list' }, double('m.item.x'), pay('{double}')],
      ['ok true m true double pay m'],
    ],
    [
      'the item around it',
      [{ id: 'm', kind: 'map', items: 'list' }, gate(), pay('{m.item.x}')],
      ['m true ok true pay m'],
    ],
    [
      'what another gate decides before both',
      [gate(), { id: 'other', kind: 'human_gate' }, pay('{amount}')],
      ['ok true pay', 'other true pay'],
    ],
    ['nothing behind the next gate', [gate(), get('q'), pay('{amount}')], ['ok true pay q']],
    [
      'calls that are approved one by one',
      [
        gate(),
        {
          ...{ id: 'a', kind: 'agent', prompt: '{ok}' },
          tools: [{ name: 'send_email', approval: 'always' }],
        },
      ],
      ['ok true a'],
    ],
  ])('covers %s', (_, nodes, paths) => {
    expect(found(nodes, ...paths).filter((each) => !each.includes("'other'"))).toEqual([]);
  });

  test.each<[string, object[], string[], string]>([
    [
      'a later read',
      [gate(), get('q'), pay('{q.body}')],
      ['ok true q pay'],
      `${reads} q.body: move the gate behind 'q', or ${ask}`,
    ],
    [
      'what is computed from a later read',
      [gate(), get('q'), double('q.body'), pay('{double}')],
      ['ok true q double pay'],
      `${reads} double: move the gate behind 'double', or ${ask}`,
    ],
    [
      'an approval that depends on an expression',
      [gate(), get('q'), pay('{q.body}', { approval: 'args.body.amount > 5' })],
      ['ok true q pay'],
      `${reads} q.body: move the gate behind 'q', or ${ask}`,
    ],
    [
      'a branch that can still write',
      [gate(), get('q'), pay('{q.body}')],
      ['ok true pay'],
      `${reads} q.body: move the gate behind 'q', or ${ask}`,
    ],
    [
      'what another open gate can write',
      [gate(), { id: 'other', kind: 'human_gate' }, pay('{amount}')],
      ['ok true pay'],
      `${reads} amount: ${ask}`,
    ],
    [
      'the next iteration of a loop',
      [{ id: 'l', kind: 'loop', expression: 'go' }, pay('{k}'), gate(), get('k')],
      ['l true pay ok true k l'],
      `${reads} k: move the gate behind 'k', or ${ask}`,
    ],
    [
      'the error of its rejection',
      [gate(), pay('{ok.error.message}')],
      ['ok error pay'],
      `${reads} ok.error.message: ${ask}`,
    ],
    [
      'calls that a model chooses',
      [gate(), { id: 'a', kind: 'agent', prompt: 'x', tools: ['http_request'] }],
      ['ok true a'],
      `the calls of http_request by 'a', which its model chooses: give each of these tools an approval: 'always'`,
    ],
  ])('does not cover %s', (_, nodes, paths, message) => {
    expect(found(nodes, ...paths)[0]).toBe(doesNot(message));
  });

  test('is superfluous without a write behind it', () => {
    expect(found([gate(), get('q')], 'ok true q')).toEqual([
      "gate_covers_nothing: Node 'ok': no step that writes follows the gate before the next decision, so it covers nothing: remove covers, or move the gate before a step that writes",
    ]);
  });
});

test('a gate without covers gets one warning, with the first places', () => {
  const steps = ['a', 'b', 'c', 'd'].map((id) => request(id, 'POST', { body: '{q.body}' }));
  const paths = steps.map(({ id }) => `q ${id}`);
  const place = (id: string): string => `'${id}', whose body reads q.body`;
  expect(found([gate({}), get('q'), ...steps], 'ok true q', ...paths)).toEqual([
    `gate_covers_partly: Node 'ok': not everything that an approval sets in motion is known when it is decided: ${place('a')}; ${place('b')}; ${place('c')}; and 1 more: move the gate behind 'q', or give 'a' an approval: 'always'`,
  ]);
});

test('a gate without covers gets no warning for what a rejection sets in motion', () => {
  const nodes = [gate({}), request('note', 'POST', { body: '{ok.error.message}' })];
  expect(found(nodes, 'ok error note')).toEqual([]);
});
