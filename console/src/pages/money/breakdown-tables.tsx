import { Alert, Group, Stack, Table, Text } from '@mantine/core';
import type { UsageBreakdown } from '../../../../client/index.ts';
import { UserText } from '../../parts/text/user-text.tsx';
import { countText, dollarsText } from '../../parts/text/numbers.ts';
import { TextLink } from '../../parts/links.tsx';
import { RowTable } from '../../parts/data/row-table.tsx';
import { Tag } from '../../parts/tag.tsx';

/** Runs and cost by workflow, highest cost first. */
export function WorkflowTable({ rows }: { rows: UsageBreakdown['by_workflow'] }) {
  if (rows.length === 0) return <Nothing />;
  return (
    <RowTable
      label="Usage by workflow"
      minWidth={340}
      columns={['Workflow', { label: 'Runs', numbers: true }, { label: 'Cost', numbers: true }]}
    >
      {rows.map(({ workflow_id, name, runs, cost_usd }) => (
        <Table.Tr key={workflow_id ?? 'other'}>
          <Table.Td>
            {workflow_id === null ? (
              'All others'
            ) : (
              <TextLink
                to="/workflows/$workflowId"
                params={{ workflowId: workflow_id }}
                search={{ tab: undefined }}
              >
                <UserText>{name}</UserText>
              </TextLink>
            )}
          </Table.Td>
          <Table.Td className="numbers">{countText(runs)}</Table.Td>
          <Table.Td className="numbers">{dollarsText(cost_usd)}</Table.Td>
        </Table.Tr>
      ))}
    </RowTable>
  );
}

/** Steps, tokens and cost by model, highest cost first, with the steps that have no price. */
export function ModelTable({ rows }: { rows: UsageBreakdown['by_model'] }) {
  if (rows.length === 0) return <Nothing />;
  const unpriced = rows.filter((row) => row.unpriced_steps > 0);
  return (
    <Stack gap="sm">
      {unpriced.length > 0 && <Unpriced rows={unpriced} />}
      <RowTable
        label="Usage by model"
        minWidth={560}
        columns={[
          'Model',
          { label: 'Steps', numbers: true },
          { label: 'Tokens in', numbers: true },
          { label: 'Tokens out', numbers: true },
          { label: 'Cost', numbers: true },
        ]}
      >
        {rows.map((row) => (
          <Table.Tr key={row.model ?? 'none'}>
            <Table.Td>
              <Group gap="xs">
                {row.model === null ? 'Failed attempts' : <UserText>{row.model}</UserText>}
                {row.unpriced_steps > 0 && (
                  <Tag size="sm" color="orange">
                    {countText(row.unpriced_steps)} unpriced
                  </Tag>
                )}
              </Group>
            </Table.Td>
            <Table.Td className="numbers">{countText(row.steps)}</Table.Td>
            <Table.Td className="numbers">{countText(row.input_tokens)}</Table.Td>
            <Table.Td className="numbers">{countText(row.output_tokens)}</Table.Td>
            <Table.Td className="numbers">{dollarsText(row.cost_usd)}</Table.Td>
          </Table.Tr>
        ))}
      </RowTable>
    </Stack>
  );
}

function Unpriced({ rows }: { rows: UsageBreakdown['by_model'] }) {
  const named = rows.flatMap(({ model }) => (model === null ? [] : [model]));
  return (
    <Alert color="orange" title="Some steps have no price">
      Their cost is unknown, so the totals here are too low. Budgets and caps refuse steps without a
      price. {named.length > 0 && 'Add prices for these models below: '}
      {named.map((model, index) => (
        <span key={model}>
          {index > 0 && ', '}
          <UserText>{model}</UserText>
        </span>
      ))}
      {named.length > 0 && '.'}
    </Alert>
  );
}

const Nothing = () => (
  <Text size="sm" c="dimmed">
    No usage in this period.
  </Text>
);
