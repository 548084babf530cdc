import { expect, test } from '@jest/globals';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { TurnRunner } from '#activities/nodes/model-turn.ts';
import type { NodeRunner } from '#activities/nodes/node.ts';
import { createDeltaNotifier, type DeltaNotifier } from '#activities/agents/delta-notifier.ts';
import { createLiveAnswer } from '#activities/agents/live-answer.ts';
import type { AgentDelta } from '#shared/db/agents/deltas.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { Attempt } from '#activities/attempt.ts';
import { runNode } from '#activities/run-node.ts';
import type { ExecuteNodeDeps } from '#activities/step-context.ts';
import type { StepCall } from '#shared/execution.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { turnCall } from '#test/fakes/node-call.ts';

const answer = { run_id: 'run_1', step_key: 'ask', turn: 1, answer: 'a' };
const delta = (text: string, place = 0) => ({ ...answer, place, text });

test('what is written after the end of an answer comes after the earlier pieces', async () => {
  const sent: string[] = [];
  const held: (() => void)[] = [];
  const query = (statement: { values: unknown[] }) =>
    new Promise<void>((resolve) => {
      held.push(() => {
        sent.push(JSON.stringify(statement.values));
        resolve();
      });
    });
  const log = createLogger({ name: 'test', level: 'silent' });
  const deltas = createDeltaNotifier({ query } as unknown as Pool, log);
  deltas.push(delta('one '));
  await Promise.resolve();
  deltas.push(delta('two', 4));
  let flushed = false;
  const flush = deltas.end(answer).then(() => (flushed = true));
  while (held.length === 0) await new Promise(setImmediate);
  expect(flushed).toBe(false);
  const release = async (until: () => boolean) => {
    while (!until()) {
      held.shift()?.();
      await new Promise(setImmediate);
    }
  };
  await release(() => flushed);
  await flush;
  expect(sent.join()).toMatch(/one .*two/s);
  let closed = false;
  const closing = deltas.close().then(() => (closed = true));
  await release(() => closed);
  await closing;
});

test.each([
  ['a turn', false],
  ['a turn', true],
  ['an agent without tools', false],
  ['an agent without tools', true],
])('%s ends after its text is sent; it fails: %s', async (what, fails) => {
  const call = turnCall();
  const ask: TurnRunner & NodeRunner<AgentNode> = async ({ onText }) => {
    onText?.('Hello', 'mock');
    if (fails) throw new Error('broken');
    return {
      model: 'mock',
      costMicros: 0,
      output: 'Hello',
      said: { text: 'Hello', calls: [] },
    };
  };
  const events: string[] = [];
  let release: (() => void) | undefined;
  const deps = {
    runners: { turn: ask, agent: ask },
    policies: { known: () => undefined },
    deltas: {
      push: ({ text }: { text: string }) => void events.push(text),
      end: () => new Promise<void>((resolve) => (release = resolve)),
    },
  } as unknown as ExecuteNodeDeps;
  const attempt = { signal: call.signal } as Attempt;
  const step = { run_id: 'run_1', step_key: 'ask/1', node: call.node, params: {}, state: {} };
  const agent = { step_key: 'ask', turn: 1 };
  const before = {
    agent,
    earlier: call.conversation,
    tools: [],
    made: new Map<string, number>(),
  };
  const claim = {
    claim: '',
    errors: 0,
    generation: 0,
    budgeted: false,
    prices: {},
    turn: what === 'a turn' ? before : undefined,
  };
  const ended = runNode(deps, attempt, step as unknown as StepCall, claim).then(
    () => events.push('ended'),
    () => events.push('failed'),
  );
  while (release === undefined) await new Promise(setImmediate);
  events.push('sent');
  release();
  await ended;
  expect(events).toEqual(['Hello', 'sent', fails ? 'failed' : 'ended']);
});

test('an answer starts again with another model, and has no NUL', () => {
  const pushed: AgentDelta[] = [];
  const live = createLiveAnswer(
    { push: (each: AgentDelta) => void pushed.push(each) } as unknown as DeltaNotifier,
    { run_id: 'run_1', step_key: 'ask', turn: 1 },
  );
  live.onText('Hel', 'openai/a');
  live.onText('l\0', 'openai/a');
  live.onText('Hi', 'mock');
  expect(pushed.map(({ place, text }) => [place, text])).toEqual([
    [0, 'Hel'],
    [3, 'l\ufffd'],
    [0, 'Hi'],
  ]);
  const [first, second, third] = pushed.map(({ answer: id }) => id);
  expect([first === second, second === third]).toEqual([true, false]);
});
