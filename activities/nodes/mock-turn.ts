import { mockTurnCost } from '#shared/agents/cost-bounds.ts';
import { requestedCalls } from '#shared/agents/requested-calls.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { toMicros } from '#shared/money/money.ts';
import { heldToSchema, mockOutput, speakAsMock, textOf, waitAsMock } from './mock-model.ts';
import type { TurnCall, TurnResult } from './model-turn.ts';

type MockTurn = NonNullable<NonNullable<AgentNode['mock']>['turns']>[number];

/**
 * One turn of the mock's script. After its last turn, and without a script or tools, it answers like `askMock`. Throws
 * NodeError while `fail_times` lasts, and the signal's reason on abort.
 */
export async function askMockTurn(call: TurnCall): Promise<TurnResult> {
  const scripted = scriptedTurn(call);
  const spent = { model: 'mock', costMicros: toMicros(mockTurnCost(call.node, call.turn)) };
  if (call.toolChoice !== 'none' && scripted?.calls !== undefined && scripted.calls.length > 0) {
    await waitAsMock(call);
    const calls = requestedCalls(
      scripted.calls.map(({ tool, arguments: input }, index) => ({
        id: `mock-${call.turn}-${index + 1}`,
        name: tool,
        input,
      })),
      (name) => call.tools.find((tool) => tool.name === name)?.name,
      call.tools.map(({ name }) => name),
    );
    return { ...spent, said: { text: '', calls } };
  }
  const output =
    scripted?.output === undefined
      ? await mockOutput(call, call.conversation.prompt)
      : scripted.output;
  const text = textOf(output);
  await speakAsMock(call, text);
  return {
    ...spent,
    said: { text, calls: [] },
    output: await heldToSchema(call, output, spent),
  };
}

/** The rendered turn if the caller rendered the script, otherwise the node's own. */
function scriptedTurn({ params, node, turn }: TurnCall): MockTurn | undefined {
  const rendered = params['mock'];
  const turns =
    isObject(rendered) && Array.isArray(rendered['turns'])
      ? (rendered['turns'] as unknown as MockTurn[])
      : node.mock?.turns;
  return turns?.[turn - 1];
}
