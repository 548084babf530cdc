import { Button, Card, Collapse, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Budget } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { budgetCard as text } from '#console/src/messages/en/budgets.ts';
import { words } from '#console/src/messages/en/words.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { dollarsText, percentText } from '#console/src/parts/text/numbers.ts';
import { WorkflowLink } from '#console/src/parts/links.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { budgetHistoryQuery, budgetsQuery } from '#console/src/queries/budgets.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { BudgetBar } from './budget-bar.tsx';
import { BurnDown } from './burn-down.tsx';

/** A budget: its usage, its scope, its burn-down and its actions. */
export function BudgetCard({ budget, onEdit }: { budget: Budget; onEdit: () => void }) {
  const [opened, setOpened] = useState(false);
  const { status } = budget;
  return (
    <Card withBorder component="article" aria-label={budget.name}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Title order={2} size="h5">
              <UserText>{budget.name}</UserText>
            </Title>
            <Pressure budget={budget} />
          </Group>
          <Actions budget={budget} onEdit={onEdit} />
        </Group>
        <Text size="sm">
          <Message
            text={text.perWindow[budget.window]}
            values={{
              limit: dollarsText(budget.limit_usd),
              scope: <Scope budget={budget} />,
            }}
          />
          {' · '}
          {budget.reservation_estimate_usd === null
            ? text.noReservations
            : text.reserves(dollarsText(budget.reservation_estimate_usd))}
          {!budget.alerts && ` · ${text.noAlerts}`}
        </Text>
        <BudgetBar limit={budget.limit_usd} status={status} />
        {status.over && (
          <Text size="sm">
            {status.window_end === null ? text.limitReached : text.limitReachedInWindow}
          </Text>
        )}
        <Group justify="space-between" gap="xs">
          <Dimmed size="xs">
            <Period budget={budget} />
          </Dimmed>
          <Button
            variant="subtle"
            size="compact-sm"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            {opened ? text.hideDays : text.showDays}
          </Button>
        </Group>
        <Collapse expanded={opened}>{opened && <BurnDown budget={budget} />}</Collapse>
      </Stack>
    </Card>
  );
}

function Period({ budget: { status, created_at } }: { budget: Budget }) {
  const { window_start: start, window_end: end } = status;
  if (start === null || end === null) {
    return <Message text={text.countingSince} values={{ start: <When at={created_at} /> }} />;
  }
  return (
    <Message text={text.window} values={{ start: <When at={start} />, end: <When at={end} /> }} />
  );
}

function Pressure({ budget: { status, limit_usd } }: { budget: Budget }) {
  if (status.over) {
    return <Tag color="danger">{status.remaining_usd < 0 ? text.over : text.reached}</Tag>;
  }
  if (status.projected_usd > limit_usd) {
    return <Tag color="caution">{text.onTrackToExceed}</Tag>;
  }
  return <Tag color="gray">{text.used(percentText(status.pct))}</Tag>;
}

function Scope({ budget: { workflow_id } }: { budget: Budget }) {
  const { data } = useQuery({ ...workflowsQuery, enabled: workflow_id !== null });
  if (workflow_id === null) return text.allWorkflows;
  const name = data?.find(({ id }) => id === workflow_id)?.name ?? workflow_id;
  return (
    <Message
      text={text.oneWorkflow}
      values={{
        name: (
          <WorkflowLink workflow={workflow_id}>
            <UserText>{name}</UserText>
          </WorkflowLink>
        ),
      }}
    />
  );
}

function Actions({ budget, onEdit }: { budget: Budget; onEdit: () => void }) {
  const remove = useAction(({ id, etag }: Budget) => api().deleteBudget(id, { ifMatch: etag }), {
    changes: [budgetsQuery.queryKey],
    done: text.deleted,
    removes: [budgetHistoryQuery(budget.id).queryKey],
  });
  if (!useMay('manage_workspace')) return null;
  return (
    <Group gap="xs">
      <Button size="compact-sm" variant="default" onClick={onEdit}>
        {words.edit}
      </Button>
      <ActionButton
        size="compact-sm"
        action={remove}
        input={budget}
        ask={{ ...text.confirmDelete, values: { name: budget.name } }}
      >
        {words.delete}
      </ActionButton>
    </Group>
  );
}
