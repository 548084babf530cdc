import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import type { PendingGate } from '#client/index.ts';
import { waitingGate as text } from '#console/src/messages/en/runs/run.ts';
import { Message } from '#console/src/messages/message.tsx';
import { DecisionForm } from '#console/src/parts/forms/decision-form.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { stepOf } from '#console/src/pages/gates/chosen.ts';
import { When } from '#console/src/parts/text/time.tsx';

/** A gate that waits for a decision, with the form to decide it. */
export const WaitingGate = ({ runId, gate }: { runId: string; gate: PendingGate }) => (
  <Paper withBorder p="md" style={{ borderColor: 'var(--mantine-color-warning-filled)' }}>
    <Stack gap="xs">
      <Group gap="xs">
        <IconHandStop size={18} aria-hidden />
        <Title order={2} size="h6">
          <UserText>{gate.title}</UserText>
        </Title>
        <Text size="sm" c="dimmed">
          <Message text={text.opened} values={{ time: <When at={gate.since} ago /> }} />
        </Text>
      </Group>
      {gate.kind === 'human_gate' && (
        <Text size="sm" className="pre">
          <UserText>{gate.prompt}</UserText>
        </Text>
      )}
      <DecisionForm runId={runId} gate={gate} />
      <TextLink
        to="/approvals/$runId/$nodeId"
        params={{ runId, nodeId: gate.node_id }}
        search={{ step: stepOf(gate) }}
        size="sm"
      >
        {text.open}
      </TextLink>
    </Stack>
  </Paper>
);
