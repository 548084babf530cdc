import { expect, test } from '@jest/globals';
import { createRecentCalls } from '#activities/agents/recent-calls.ts';
import type { RecordedCall } from '#shared/agents/turn-record.ts';

const source = { execution: 'exec', runId: 'run_1' };
const turn = { ...source, agentKey: 'agent', turn: 2 };

const call = (index: number, fields: Partial<RecordedCall>): RecordedCall => ({
  index,
  id: `call_${index}`,
  tool: 'lookup',
  given: {},
  ...fields,
});

test('a call can be taken once', () => {
  const recent = createRecentCalls();
  recent.keep(turn, { calls: [call(1, { arguments: { a: 1 } }), call(2, { arguments: {} })] });
  expect(recent.take({ ...source, stepKey: 'agent/2.1' })).toEqual({ a: 1 });
  expect(recent.take({ ...source, stepKey: 'agent/2.1' })).toBeUndefined();
  expect(recent.take({ ...source, stepKey: 'agent/2.2' })).toEqual({});
});

test('another execution or run does not find it', () => {
  const recent = createRecentCalls();
  recent.keep(turn, { calls: [call(1, { arguments: { a: 1 } })] });
  expect(recent.take({ ...source, execution: 'next', stepKey: 'agent/2.1' })).toBeUndefined();
  expect(recent.take({ ...source, runId: 'run_2', stepKey: 'agent/2.1' })).toBeUndefined();
  expect(recent.take({ ...source, stepKey: 'agent/2.1' })).toEqual({ a: 1 });
});

test.each([
  ['needs approval', { arguments: { a: 1 }, question: 'Call lookup?' }],
  ['was refused', { refusal: 'There is no such tool' }],
  ['has long arguments', { arguments: { a: 'x'.repeat(10_001) } }],
])('a call that %s is not cached', (_title, fields) => {
  const recent = createRecentCalls();
  recent.keep(turn, { calls: [call(1, fields)] });
  expect(recent.take({ ...source, stepKey: 'agent/2.1' })).toBeUndefined();
});

test('the oldest calls are dropped', () => {
  const recent = createRecentCalls();
  for (let at = 1; at <= 1_001; at += 1) {
    recent.keep({ ...turn, turn: at }, { calls: [call(1, { arguments: { at } })] });
  }
  expect(recent.take({ ...source, stepKey: 'agent/1.1' })).toBeUndefined();
  expect(recent.take({ ...source, stepKey: 'agent/1001.1' })).toEqual({ at: 1_001 });
});
