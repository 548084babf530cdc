import { Table } from '@mantine/core';
import type { Workspace } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { planTexts } from '#console/src/messages/en/parts/plans.ts';
import { plans as text } from '#console/src/messages/en/workspace/plans.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Section } from '#console/src/parts/page.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { usageQuery, workspaceQuery } from '#console/src/queries/workspace.ts';
import { type PlanName, planNames, plans } from '#shared/people/plans.ts';

const numbers = true;

/** The limits of each plan, the current plan, and actions to change it. */
export function Plans({ workspace }: { workspace: Workspace }) {
  const current = workspace.plan;
  const mayManage = useMay('manage_workspace');
  return (
    <Section title={text.title}>
      <RowTable
        label={text.table}
        minWidth={640}
        columns={[
          text.plan,
          { label: text.runsPerMonth, numbers },
          { label: text.runRetention, numbers },
          { label: text.auditRetention, numbers },
          { label: text.dataRequestsPerMonth, numbers },
          ...(mayManage ? [text.actions] : []),
        ]}
      >
        {planNames.map((name) => (
          <Row key={name} aria-current={name === current ? 'true' : undefined}>
            <Table.Td>
              {planTexts[name]} {name === current && <Tag size="sm">{text.current}</Tag>}
            </Table.Td>
            <Table.Td className="numbers">{limitText(plans[name].runsPerMonth)}</Table.Td>
            <Table.Td className="numbers">{days(plans[name].runsKeptDays)}</Table.Td>
            <Table.Td className="numbers">{days(plans[name].auditKeptDays)}</Table.Td>
            <Table.Td className="numbers">{limitText(plans[name].dataRequestsPerMonth)}</Table.Td>
            {mayManage && (
              <Table.Td>{name !== current && <Change workspace={workspace} to={name} />}</Table.Td>
            )}
          </Row>
        ))}
      </RowTable>
      <Dimmed size="xs">{text.about}</Dimmed>
    </Section>
  );
}

function Change({ workspace, to }: { workspace: Workspace; to: PlanName }) {
  const { plan: from } = workspace;
  const change = useAction(({ etag }: Workspace) => api().setPlan(to, { ifMatch: etag }), {
    changes: [workspaceQuery.queryKey, usageQuery.queryKey],
    done: text.changed(planTexts[to]),
  });
  return (
    <ActionButton
      size="compact-xs"
      action={change}
      input={workspace}
      ask={{
        title: text.changeTitle(planTexts[to]),
        consequence: losesRecords(from, to)
          ? text.losesRecords({
              runs: days(plans[to].runsKeptDays),
              audit: days(plans[to].auditKeptDays),
            })
          : text.appliesImmediately,
        confirm: text.change,
        dangerous: losesRecords(from, to),
      }}
      variant="default"
      aria-label={text.changeTo(planTexts[to])}
    >
      {text.change}
    </ActionButton>
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
  count === null ? text.unlimited : countText(count);
const days = (count: number | null): string => (count === null ? text.unlimited : text.days(count));
