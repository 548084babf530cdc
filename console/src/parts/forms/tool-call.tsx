import { Stack, Text } from '@mantine/core';
import type { PendingGate } from '../../../../client/index.ts';
import { exactJson } from '../code/exact-json.ts';
import { JsonView } from '../code/json-view.tsx';
import { Facts } from '../data/facts.tsx';
import { UserText } from '../text/user-text.tsx';

export type PendingToolCall = NonNullable<PendingGate['tool_call']>;

/** The tool call that a gate is about: what is called, by which agent, and the exact arguments. */
export function ToolCall({ gate, call }: { gate: PendingGate; call: PendingToolCall }) {
  return (
    <Stack gap="xs" role="group" aria-label={`Tool call ${call.tool}`}>
      <Facts
        of={[
          ['Tool', <UserText>{call.tool}</UserText>],
          ['Agent', <UserText>{gate.node_id}</UserText>],
          ['Turn', call.turn],
        ]}
      />
      {call.arguments === null ? (
        <>
          <Text size="sm" className="pre">
            <UserText>{gate.prompt}</UserText>
          </Text>
          <Text size="sm" c="dimmed">
            You need the approve_gates permission to view the arguments.
          </Text>
        </>
      ) : (
        <Stack gap={4}>
          <Text size="xs" c="dimmed">
            Arguments
          </Text>
          <JsonView value={exactJson(call.arguments)} what={`the arguments of ${call.tool}`} />
        </Stack>
      )}
    </Stack>
  );
}
