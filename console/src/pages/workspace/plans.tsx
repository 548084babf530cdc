import { Button, Table, Text } from '@mantine/core';
import type { Workspace } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { confirm } from '../../parts/confirm.tsx';
import { countText } from '../../parts/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { RowTable } from '../../parts/row-table.tsx';
import { Tag } from '../../parts/tag.tsx';
import { useMay } from '../../queries/identity.ts';
import { usageQuery, workspaceQuery } from '../../queries/workspace.ts';
import { type PlanName, planNames, plans } from '../../../../shared/plans.ts';

const numbers = true;

/** What each plan allows, which one the workspace is on, and the change to another. */
export function Plans({ plan: current }: { plan: Workspace['plan'] }) {
  const mayManage = useMay('manage_workspace');
  return (
    <Section title="Plan">
      <RowTable
        label="Plans"
        minWidth={640}
        columns={[
          'Plan',
          { label: 'Runs a month', numbers },
          { label: 'Runs kept', numbers },
          { label: 'Audit kept', numbers },
          { label: 'Data calls a month', numbers },
          ...(mayManage ? ['Actions'] : []),
        ]}
      >
        {planNames.map((name) => (
          <Table.Tr key={name} aria-current={name === current ? 'true' : undefined}>
            <Table.Td>
              {name} {name === current && <Tag size="sm">yours</Tag>}
            </Table.Td>
            <Table.Td className="numbers">{bound(plans[name].runsPerMonth)}</Table.Td>
            <Table.Td className="numbers">{days(plans[name].runsKeptDays)}</Table.Td>
            <Table.Td className="numbers">{days(plans[name].auditKeptDays)}</Table.Td>
            <Table.Td className="numbers">{bound(plans[name].dataRequestsPerMonth)}</Table.Td>
            {mayManage && (
              <Table.Td>{name !== current && <Change from={current} to={name} />}</Table.Td>
            )}
          </Table.Tr>
        ))}
      </RowTable>
      <Text size="xs" c="dimmed">
        Months are those of UTC. Runs under way are never stopped by a plan.
      </Text>
    </Section>
  );
}

function Change({ from, to }: { from: PlanName; to: PlanName }) {
  const change = useAction((plan: PlanName) => api().setPlan(plan), {
    changes: [workspaceQuery.queryKey, usageQuery.queryKey],
    done: `The plan is ${to} now`,
  });
  const ask = (): void =>
    confirm({
      title: `Change the plan to ${to}?`,
      consequence: losesRecords(from, to)
        ? `Runs are kept for ${days(plans[to].runsKeptDays)} and audit entries for ${days(plans[to].auditKeptDays)}: older ones are deleted for good at the next sweep, within a day.`
        : 'The new bounds hold at once.',
      confirmLabel: 'Change plan',
      dangerous: losesRecords(from, to),
      onConfirm: () => change.mutate(to),
    });
  return (
    <Button
      size="compact-xs"
      variant="default"
      loading={change.isPending}
      onClick={ask}
      aria-label={`Change to ${to}`}
    >
      Change
    </Button>
  );
}

/** Whether something is kept for a shorter time on the other plan. */
function losesRecords(from: PlanName, to: PlanName): boolean {
  const shorter = (before: number | null, after: number | null): boolean =>
    after !== null && (before === null || after < before);
  return (
    shorter(plans[from].runsKeptDays, plans[to].runsKeptDays) ||
    shorter(plans[from].auditKeptDays, plans[to].auditKeptDays)
  );
}

const bound = (count: number | null): string => (count === null ? 'no limit' : countText(count));
const days = (count: number | null): string =>
  count === null ? 'without end' : `${countText(count)} days`;
