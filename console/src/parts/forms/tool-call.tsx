import { Box, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { PendingGate } from '../../../../client/index.ts';
import { exactJson } from '../code/exact-json.ts';
import { JsonView } from '../code/json-view.tsx';
import { UserText } from '../text/user-text.tsx';

export type PendingToolCall = NonNullable<PendingGate['tool_call']>;

/** The tool call that a gate is about: what is called, by which agent, and the exact arguments. */
export function ToolCall({ gate, call }: { gate: PendingGate; call: PendingToolCall }) {
  return (
    <Stack gap="xs" role="group" aria-label={`Tool call ${call.tool}`}>
      <Group component="dl" gap="lg" m={0}>
        <Fact name="Tool">
          <UserText>{call.tool}</UserText>
        </Fact>
        <Fact name="Agent">
          <UserText>{gate.node_id}</UserText>
        </Fact>
        <Fact name="Turn">{call.turn}</Fact>
      </Group>
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
