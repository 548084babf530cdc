import { describe, expect, test } from '@jest/globals';
import { runTurn, type TurnContext } from '#activities/agents/turn.ts';
import type { Redact } from '#activities/agents/redact.ts';
import type { TurnResult } from '#activities/nodes/model-turn.ts';
import { WorkBusyError } from '#shared/platform/threads/threads.ts';
import { CostlyError, evaluateUntrusted, type Place } from '#shared/platform/threads/untrusted.ts';
import { offeredTool, turnCall } from '#test/fakes/node-call.ts';
import { soakTest } from '#test/support/soak.ts';

const call = turnCall({ node: { model: 'openai/gpt-4o' } });
/** Only the common keywords are compared directly; this one is compared on a thread. */
const id = { not: { type: 'string' } };
const find = { ...offeredTool('custom:find', { id }), approval: 'args.id > 5' };
const context: TurnContext = {
  agent: { step_key: 'a', turn: 1 },
  earlier: call.conversation,
  tools: [find],
  made: new Map(),
};
const asked: TurnResult = {
  costMicros: 7,
  said: { text: '', calls: [{ index: 1, id: 'c1', tool: 'custom:find', given: { id: 9 } }] },
};
const turn = (redact: Redact, place: Place = 'here-first') =>
  runTurn(async () => asked, call, context, { redact, place });
const unchanged: Redact = async (value) => ({ value, verdicts: [] });

describe('a turn whose model has answered', () => {
  soakTest('waits for busy threads instead of being asked again', async () => {
    const text = 'ab'.repeat(150_000);
    const flood = Promise.allSettled(
      Array.from({ length: 30 }, () =>
        evaluateUntrusted(call.workspaceId, `matches(text, '(?i)(?:a[ab]{0,30}){0,1}c')`, { text }),
      ),
    );
    const { output } = await turn(unchanged);
    expect(output).toMatchObject({
      calls: [{ arguments: { id: 9 }, question: 'Call custom:find with {"id":9}?' }],
    });
    const refused = (await flood).filter(
      (each) => each.status === 'rejected' && each.reason instanceof WorkBusyError,
    );
    expect(refused.length).toBeGreaterThan(0);
  });

  test('does not wait for a thread in the short lane, where it would be late', async () => {
    await expect(turn(unchanged, 'here')).rejects.toBeInstanceOf(CostlyError);
  });

  test('keeps its cost when its calls cannot be decided', async () => {
    const stopped = turn(() => Promise.reject(new Error('The worker shuts down')));
    await expect(stopped).rejects.toMatchObject({
      name: 'NodeError',
      message: 'The worker shuts down',
      consumption: { costMicros: 7 },
    });
  });
});
