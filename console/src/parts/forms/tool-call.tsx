import { Box, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { PendingGate } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { argumentsField, toolCall as text } from '#console/src/messages/en/gates.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

export type PendingToolCall = NonNullable<PendingGate['tool_call']>;

/** The tool call that a gate is about: the tool and the agent, and its prompt for someone who cannot see the arguments. */
export function ToolCall({ gate, call }: { gate: PendingGate; call: PendingToolCall }) {
  return (
    <Stack gap="xs" role="group" aria-label={text.label(call.tool)}>
      <Group component="dl" gap="lg" m={0}>
        <Fact name={words.tool}>
          <UserText>{call.tool}</UserText>
        </Fact>
        <Fact name={call.turn === null ? words.node : text.agent}>
          <UserText>{gate.node_id}</UserText>
        </Fact>
        {call.turn !== null && <Fact name={text.turn}>{call.turn}</Fact>}
      </Group>
      {call.arguments === null && (
        <>
          <Text size="sm" className="pre">
            <UserText>{gate.prompt}</UserText>
          </Text>
          <Dimmed>{argumentsField.mayNotView}</Dimmed>
        </>
      )}
    </Stack>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <Box miw={0}>
    <Text component="dt" size="xs" c="dimmed">
      {name}
    </Text>
    <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
      {children}
    </Text>
  </Box>
);
