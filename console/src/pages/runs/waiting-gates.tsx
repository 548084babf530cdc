import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import type { Run } from '#client/index.ts';
import { waitingGates as text } from '#console/src/messages/en/runs/run.ts';
import { Message } from '#console/src/messages/message.tsx';
import { DecisionForm } from '#console/src/parts/forms/decision-form.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { stepOf } from '#console/src/pages/gates/chosen.ts';
import { When } from '#console/src/parts/text/time.tsx';

/** The pending gates of the run, with decision forms, except for those in the visible conversation. */
export function WaitingGates({
  run,
  chosen,
}: {
  run: Run;
  /** The key of the selected step. */
  chosen: string | undefined;
}) {
  const agentOf = new Map(run.steps.map((step) => [step.step_key, step.parent_step_key]));
  const gates = run.pending_gates.filter(
    ({ step_key }) => chosen === undefined || agentOf.get(step_key) !== chosen,
  );
  return gates.map((gate) => (
    <Paper
      key={gate.step_key}
      withBorder
      p="md"
      style={{ borderColor: 'var(--mantine-color-warning-filled)' }}
    >
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
        <DecisionForm runId={run.id} gate={gate} />
        <TextLink
          to="/approvals/$runId/$nodeId"
          params={{ runId: run.id, nodeId: gate.node_id }}
          search={{ step: stepOf(gate) }}
          size="sm"
        >
          {text.open}
        </TextLink>
      </Stack>
    </Paper>
  ));
}
