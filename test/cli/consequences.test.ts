import { expect, test } from '@jest/globals';
import { printConsequences } from '#cli/consequences.ts';
import { createOutput } from '#cli/output.ts';
import type { Gate } from '#client/index.ts';

type Answer = NonNullable<Gate['consequences']>['approve'];
type Effect = Answer['effects'][number];

const effect = (node_id: string, more: Partial<Effect> = {}): Effect => ({
  ...{ node_id, step_key: node_id, label: node_id, kind: 'tool', tool: 'http_request' },
  ...{ certainty: 'certain', conditions: [], effect: 'write', arguments: {}, unknown: [] },
  cost_usd: { min: 0, max: 0 },
  ...more,
});

const nothing: Answer = { effects: [], more: 0, next_gates: [] };

function printed(effects: Effect[], more: Partial<Answer> = {}): string[] {
  let text = '';
  const output = createOutput(
    { write: (part) => (text += part) },
    { format: 'table', colour: false },
  );
  printConsequences(output, {
    approve: { ...nothing, ...more, effects },
    reject: nothing,
  });
  return text.trimEnd().split('\n');
}

test('says what is executed, when, with what, and what is not known', () => {
  const condition = { node_id: 'large', when: 'true', expression: 'amount > 5' } as const;
  expect(
    printed(
      [
        effect('pay', {
          arguments: { body: { amount: null, to: 'Ada\u202e\nEve' } },
          unknown: [{ path: ['body', 'amount'], reads: ['quote.price', 'rate'] }],
          host: 'bank.test',
        }),
        effect('fetch', { certainty: 'conditional', conditions: [condition], effect: 'read' }),
        effect('send', {
          step_key: 'send#*',
          certainty: 'per_item',
          executions: { min: 0, max: null },
        }),
        effect('ask', { kind: 'agent', may_call: [{ tool: 'pay', approval: 'always' }] }),
        effect('child', { kind: 'workflow', label: 'Child', problem: '{x} is not known' }),
        effect('hidden', { arguments: null, host: 'at_run_time' }),
      ],
      { next_gates: ['second'], more: 3 },
    ),
  ).toEqual([
    '',
    'If you approve',
    '  pay: http_request to bank.test (write), always',
    '    {"body":{"amount":null,"to":"Ada\\u202e\\nEve"}}',
    '    body.amount is not known yet: it reads quote.price, rate',
    '  fetch: http_request (read), if amount > 5 is true',
    '  send#*: http_request (write), 0 to any number of times',
    '  ask: asks a model, which can call pay (asks), always',
    '  child: starts a run (Child), always',
    '    It fails: {x} is not known',
    '  hidden: http_request to a host that is not known yet (write), always',
    '    its arguments are only shown to those who can approve',
    '  Next decision: second',
    '  After that, up to 3 more steps can be executed.',
    '',
    'If you reject',
    '  Nothing is executed.',
  ]);
});

test('shortens long lists, and shows some effects of every node', () => {
  const items = (node: string, size: number): Effect[] =>
    Array.from({ length: size }, (_, at) => effect(node, { step_key: `${node}#${at + 1}` }));
  const lines = printed([...items('send', 100), ...items('tell', 400), effect('last')]);
  expect(lines).toHaveLength(2 + 11 + 11 + 1 + 3);
  expect(lines).toContain('  90 more of send: ops gate <run> -o json has all');
  expect(lines).toContain('  390 more of tell: ops gate <run> -o json has all');
  expect(lines).toContain('  last: http_request (write), always');
  const many = Array.from({ length: 500 }, (_, at) => effect(`n${at}`));
  const cut = printed(many);
  expect(cut).toHaveLength(2 + 100 + 1 + 3);
  expect(cut).toContain('  400 more of other nodes: ops gate <run> -o json has all');
});

test('a record has no spaces behind its values', () => {
  let text = '';
  const stream = { write: (part: string) => (text += part) };
  createOutput(stream, { format: 'table', colour: false }).record({
    id: 'run',
    prompt: 'x'.repeat(9),
  });
  expect(text).toBe('id      run\nprompt  xxxxxxxxx\n');
});
