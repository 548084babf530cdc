import { expect, test } from '@jest/globals';
import { graphNodeSchema } from '#shared/contract/workflows/graph.ts';
import { laneOf } from '#shared/graph/lanes.ts';
import { builtinTools } from '#shared/tools.ts';

const lane = (node: object): string => {
  const parsed = graphNodeSchema.parse({ id: 'n', ...node });
  if (parsed.kind !== 'agent' && parsed.kind !== 'tool') throw new Error('no step');
  return laneOf(parsed);
};

test('tools without external calls are short; custom and other tools are long', () => {
  const lanes = Object.fromEntries(
    [...builtinTools, 'custom:lookup', 'toString'].map((tool_name) => [
      tool_name,
      lane({ kind: 'tool', tool_name }),
    ]),
  );
  expect(lanes).toEqual({
    http_request: 'long',
    send_email: 'long',
    send_chat_message: 'long',
    json_transform: 'short',
    delay: 'long',
    mcp: 'long',
    entity_upsert: 'short',
    event_emit: 'short',
    entity_search: 'short',
    feed_list: 'short',
    source_report: 'short',
    send_event: 'short',
    'custom:lookup': 'long',
    toString: 'long',
  });
});

test.each([
  [{}, 'short'],
  [{ model: 'mock', mock: { output: 'x', fail_times: 2 } }, 'short'],
  [{ model: 'mock', mock: { delay_ms: 0 } }, 'short'],
  [{ model: 'mock', mock: { delay_ms: 1 } }, 'long'],
  [{ model: 'openai/gpt-5' }, 'long'],
  [{ model: 'mock', fallback_models: ['openai/gpt-5'] }, 'long'],
  [{ model: 'mock', fallback_models: ['mock'] }, 'short'],
])('an agent with %j is %s', (agent, expected) => {
  expect(lane({ kind: 'agent', ...agent })).toBe(expected);
});
