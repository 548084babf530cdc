import { Button, Card, Collapse, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Budget } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { dollarsText, percentText } from '../../parts/text/numbers.ts';
import { TextLink } from '../../parts/links.tsx';
import { Tag } from '../../parts/tag.tsx';
import { When } from '../../parts/text/time.tsx';
import { budgetsQuery } from '../../queries/budgets.ts';
import { useMay } from '../../queries/identity.ts';
import { workflowsQuery } from '../../queries/workflows.ts';
import { BudgetBar } from './budget-bar.tsx';
import { BurnDown } from './burn-down.tsx';

const windowNames = {
  day: 'per day',
  week: 'per week',
  month: 'per month',
  total: 'in total',
} as const satisfies Record<Budget['window'], string>;

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
          {dollarsText(budget.limit_usd)} {windowNames[budget.window]}, <Scope budget={budget} />
          {budget.reservation_estimate_usd === null
            ? ' · no reservations'
            : ` · reserves ${dollarsText(budget.reservation_estimate_usd)} per run`}
        </Text>
        <BudgetBar limit={budget.limit_usd} status={status} />
        {status.over && (
          <Text size="sm">
            Limit reached. New runs are refused until you raise the limit
            {status.window_end === null ? '' : ' or the window ends'}.
          </Text>
        )}
        <Group justify="space-between" gap="xs">
          <Text size="xs" c="dimmed">
            {status.window_start !== null && status.window_end !== null ? (
              <>
                Window <When at={status.window_start} /> to <When at={status.window_end} />
              </>
            ) : (
              <>
                Counting since <When at={budget.created_at} />
              </>
            )}
          </Text>
          <Button
            variant="subtle"
            size="compact-sm"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            {opened ? 'Hide daily spend' : 'Show daily spend'}
          </Button>
        </Group>
        <Collapse expanded={opened}>{opened && <BurnDown budget={budget} />}</Collapse>
      </Stack>
    </Card>
  );
}

function Pressure({ budget: { status, limit_usd } }: { budget: Budget }) {
  if (status.over) {
    return <Tag color="red">Over limit</Tag>;
  }
  if (status.projected_usd > limit_usd) {
    return <Tag color="orange">On track to exceed</Tag>;
  }
  return <Tag color="gray">{percentText(status.pct)} used</Tag>;
}

function Scope({ budget: { workflow_id } }: { budget: Budget }) {
  const { data } = useQuery({ ...workflowsQuery, enabled: workflow_id !== null });
  if (workflow_id === null) return 'all workflows';
  const name = data?.find(({ id }) => id === workflow_id)?.name ?? workflow_id;
  return (
    <>
      workflow{' '}
      <TextLink
        to="/workflows/$workflowId"
        params={{ workflowId: workflow_id }}
        search={{ tab: undefined }}
      >
        <UserText>{name}</UserText>
      </TextLink>
    </>
  );
}

function Actions({ budget, onEdit }: { budget: Budget; onEdit: () => void }) {
  const remove = useAction((id: string) => api().deleteBudget(id), {
    // Do not refetch the history: it is still displayed, but no longer exists.
    changes: [budgetsQuery.queryKey],
    done: 'Budget deleted',
  });
  if (!useMay('manage_workspace')) return null;
  const ask = (): void =>
    confirm({
      title: 'Delete this budget?',
      consequence: (
        <>
          <UserText>{budget.name}</UserText> will no longer limit the cost of runs. Past spend stays
          in usage.
        </>
      ),
      confirmLabel: 'Delete budget',
      onConfirm: () => remove.mutate(budget.id),
    });
  return (
    <Group gap="xs">
      <Button size="compact-sm" variant="default" onClick={onEdit}>
        Edit
      </Button>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        onClick={ask}
        loading={remove.isPending}
      >
        Delete
      </Button>
    </Group>
  );
}
