import { describe, expect, test } from '@jest/globals';
import { runTurn, type TurnContext } from '../../activities/agents/turn.ts';
import type { TurnResult } from '../../activities/nodes/model-turn.ts';
import { WorkBusyError } from '../../shared/platform/threads/threads.ts';
import { evaluateUntrusted } from '../../shared/platform/threads/untrusted.ts';
import { offeredTool, turnCall } from '../fakes/node-call.ts';

const call = turnCall({ node: { model: 'openai/gpt-4o' } });
const find = { ...offeredTool('custom:find', { id: { type: 'number' } }), approval: 'args.id > 5' };
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
const turn = (redact: Parameters<typeof runTurn>[3]['redact']) =>
  runTurn(async () => asked, call, context, { redact, onText: () => undefined });

describe('a turn whose model has answered', () => {
  test('waits for busy threads instead of being asked again', async () => {
    const text = 'ab'.repeat(150_000);
    const flood = Promise.allSettled(
      Array.from({ length: 30 }, () =>
        evaluateUntrusted(call.workspaceId, `matches(text, '(?i)(?:a[ab]{0,30}){0,1}c')`, { text }),
      ),
    );
    const { output } = await turn(async (value) => ({ value, verdicts: [] }));
    expect(output).toMatchObject({
      calls: [{ arguments: { id: 9 }, question: 'Call custom:find with {"id":9}?' }],
    });
    const refused = (await flood).filter(
      (each) => each.status === 'rejected' && each.reason instanceof WorkBusyError,
    );
    expect(refused.length).toBeGreaterThan(0);
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
