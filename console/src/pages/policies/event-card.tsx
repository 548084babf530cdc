import { Button, Card, Group, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { GovernanceEvent } from '#client/index.ts';
import {
  decisionTexts,
  eventCard as text,
  eventTexts,
} from '#console/src/messages/en/governance/decisions.ts';
import { Message } from '#console/src/messages/message.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { exactText } from '#console/src/parts/code/exact-json.ts';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { WorkflowLink, RunLink } from '#console/src/parts/links.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { membersQuery } from '#console/src/queries/members.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { decisionColours } from './event-texts.ts';

/** A decision: its type, reason and origin, with its evidence on demand. */
export function EventCard({ event }: { event: GovernanceEvent }) {
  const [opened, setOpened] = useState(false);
  const what = eventTexts[event.type];
  return (
    <Card withBorder padding="sm" component="article" aria-label={what}>
      <Stack gap={6}>
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Tag color={decisionColours[event.decision]}>{decisionTexts[event.decision]}</Tag>
            <Text fw={600} size="sm">
              {what}
            </Text>
          </Group>
          <Dimmed size="xs">
            <When at={event.created_at} ago />
          </Dimmed>
        </Group>
        <Text size="sm">
          <UserText>{event.reason}</UserText>
        </Text>
        <Group justify="space-between" gap="xs">
          <Text size="xs" component="div">
            <Where event={event} />
          </Text>
          <Button
            size="compact-xs"
            variant="subtle"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            {opened ? text.hideEvidence : text.showEvidence}
          </Button>
        </Group>
        {opened && <Evidence event={event} />}
      </Stack>
    </Card>
  );
}

/** The evidence of a decision: for a step that was not sent, where it differs from what was approved. */
function Evidence({ event: { type, evidence } }: { event: GovernanceEvent }) {
  const { gate, step_key: stepKey, paths } = evidence;
  if (type !== 'approval_mismatch' || !Array.isArray(paths)) {
    return <JsonView value={evidence} what={text.theEvidence} />;
  }
  const named = (value: unknown) =>
    typeof value === 'string' ? <UserText>{exactText(value)}</UserText> : undefined;
  return (
    <Facts
      of={[
        [text.gate, named(gate)],
        [text.stepKey, named(stepKey)],
        [text.different, named(paths.join(', '))],
      ]}
    />
  );
}

function Where({ event }: { event: GovernanceEvent }) {
  const { workflow_id, version, run_id, node_id, actor_id } = event;
  return (
    <Group gap="xs">
      {workflow_id !== null && <WorkflowName id={workflow_id} version={version} />}
      {run_id !== null && (
        <RunLink run={run_id} step={node_id} size="xs">
          <Message text={text.run} values={{ id: run_id }} />
        </RunLink>
      )}
      {node_id !== null && (
        <span>
          <Message text={text.step} values={{ id: node_id }} />
        </span>
      )}
      {actor_id !== null && <ActorName id={actor_id} />}
    </Group>
  );
}

function WorkflowName({ id, version }: { id: string; version: number | null }) {
  const { data } = useQuery(workflowsQuery);
  const name = <UserText>{data?.find((each) => each.id === id)?.name ?? id}</UserText>;
  return (
    <WorkflowLink workflow={id} size="xs">
      {version === null ? name : <Message text={text.workflowVersion} values={{ name, version }} />}
    </WorkflowLink>
  );
}

function ActorName({ id }: { id: string }) {
  const { data } = useQuery(membersQuery);
  const name = data?.find((each) => each.id === id)?.name ?? id;
  return (
    <span>
      <Message text={text.by} values={{ name }} />
    </span>
  );
}
