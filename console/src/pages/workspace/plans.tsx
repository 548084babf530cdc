import { Button, Table, Text } from '@mantine/core';
import type { Workspace } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { countText } from '../../parts/text/numbers.ts';
import { Section } from '../../parts/page.tsx';
import { sentenceCase } from '../../parts/text/sentence-case.ts';
import { RowTable } from '../../parts/data/row-table.tsx';
import { Tag } from '../../parts/tag.tsx';
import { useMay } from '../../queries/identity.ts';
import { usageQuery, workspaceQuery } from '../../queries/workspace.ts';
import { type PlanName, planNames, plans } from '../../../../shared/plans.ts';

const numbers = true;

/** The limits of each plan, the current plan, and actions to change it. */
export function Plans({ plan: current }: { plan: Workspace['plan'] }) {
  const mayManage = useMay('manage_workspace');
  return (
    <Section title="Plan">
      <RowTable
        label="Plans"
        minWidth={640}
        columns={[
          'Plan',
          { label: 'Runs per month', numbers },
          { label: 'Run retention', numbers },
          { label: 'Audit log retention', numbers },
          { label: 'Data API calls per month', numbers },
          ...(mayManage ? ['Actions'] : []),
        ]}
      >
        {planNames.map((name) => (
          <Table.Tr key={name} aria-current={name === current ? 'true' : undefined}>
            <Table.Td>
              {sentenceCase(name)} {name === current && <Tag size="sm">Current</Tag>}
            </Table.Td>
            <Table.Td className="numbers">{limitText(plans[name].runsPerMonth)}</Table.Td>
            <Table.Td className="numbers">{days(plans[name].runsKeptDays)}</Table.Td>
            <Table.Td className="numbers">{days(plans[name].auditKeptDays)}</Table.Td>
            <Table.Td className="numbers">{limitText(plans[name].dataRequestsPerMonth)}</Table.Td>
            {mayManage && (
              <Table.Td>{name !== current && <Change from={current} to={name} />}</Table.Td>
            )}
          </Table.Tr>
        ))}
      </RowTable>
      <Text size="xs" c="dimmed">
        Months are in UTC. A plan limit never stops an active run.
      </Text>
    </Section>
  );
}

function Change({ from, to }: { from: PlanName; to: PlanName }) {
  const change = useAction((plan: PlanName) => api().setPlan(plan), {
    changes: [workspaceQuery.queryKey, usageQuery.queryKey],
    done: `Plan changed to ${sentenceCase(to)}`,
  });
  const ask = (): void =>
    confirm({
      title: `Change to the ${sentenceCase(to)} plan?`,
      consequence: losesRecords(from, to)
        ? `Runs are kept for ${days(plans[to].runsKeptDays)} and audit entries for ${days(plans[to].auditKeptDays)}. Older ones are permanently deleted within a day.`
        : 'The new limits apply immediately.',
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
      aria-label={`Change plan to ${sentenceCase(to)}`}
    >
      Change plan
    </Button>
  );
}

/** Whether the other plan has a shorter retention of runs or audit entries. */
function losesRecords(from: PlanName, to: PlanName): boolean {
  const shorter = (before: number | null, after: number | null): boolean =>
    after !== null && (before === null || after < before);
  return (
    shorter(plans[from].runsKeptDays, plans[to].runsKeptDays) ||
    shorter(plans[from].auditKeptDays, plans[to].auditKeptDays)
  );
}

const limitText = (count: number | null): string =>
  count === null ? 'Unlimited' : countText(count);
const days = (count: number | null): string =>
  count === null ? 'Unlimited' : `${countText(count)} days`;
