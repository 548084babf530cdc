import { expect, test } from '@jest/globals';
import type { TurnRunner } from '#activities/nodes/model-turn.ts';
import { createDeltaNotifier } from '#activities/agents/delta-notifier.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { Attempt } from '#activities/attempt.ts';
import { runNode } from '#activities/run-node.ts';
import type { ExecuteNodeDeps } from '#activities/step-context.ts';
import type { StepCall } from '#shared/execution.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { turnCall } from '#test/fakes/node-call.ts';

const delta = (text: string) => ({ run_id: 'run_1', step_key: 'ask', turn: 1, text });

test('what is written after a flush comes after the earlier pieces', async () => {
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
  deltas.push(delta('two'));
  let flushed = false;
  const flush = deltas.flush().then(() => (flushed = true));
  while (held.length === 0) await new Promise(setImmediate);
  expect(flushed).toBe(false);
  held.shift()!();
  while (held.length === 0 && !flushed) await new Promise(setImmediate);
  held.shift()?.();
  await flush;
  expect(sent.join()).toMatch(/one .*two/s);
  await deltas.close();
  expect(held).toEqual([]);
});

test.each([false, true])(
  'a turn ends after its text is sent, even if it fails: %s',
  async (fails) => {
    const call = turnCall();
    const turn: TurnRunner = async ({ onText }) => {
      onText?.('Hello', 'mock');
      if (fails) throw new Error('broken');
      return { model: 'mock', costMicros: 0, said: { text: 'Hello', calls: [] } };
    };
    const events: string[] = [];
    let release: (() => void) | undefined;
    const deps = {
      runners: { turn },
      policies: { known: () => undefined },
      deltas: {
        push: ({ text }: { text: string }) => void events.push(text),
        flush: () => new Promise<void>((resolve) => (release = resolve)),
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
      turn: before,
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
  },
);
