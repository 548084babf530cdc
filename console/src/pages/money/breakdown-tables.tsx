import { Alert, Group, Stack, Table } from '@mantine/core';
import type { UsageBreakdown } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { breakdown as text } from '#console/src/messages/en/usage.ts';
import { Message } from '#console/src/messages/message.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Cost } from '#console/src/parts/text/cost.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { WorkflowLink } from '#console/src/parts/links.tsx';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** Runs and cost by workflow, highest cost first. */
export function WorkflowTable({ rows }: { rows: UsageBreakdown['by_workflow'] }) {
  if (rows.length === 0) return <Nothing />;
  return (
    <RowTable
      label={text.byWorkflow}
      minWidth={340}
      columns={[
        words.workflow,
        { label: words.runs, numbers: true },
        { label: words.cost, numbers: true },
      ]}
    >
      {rows.map(({ workflow_id, name, runs, cost_usd, unpriced_steps }) => (
        <Row key={workflow_id ?? 'other'}>
          {workflow_id === null ? (
            text.otherWorkflows
          ) : (
            <WorkflowLink workflow={workflow_id}>
              <UserText>{name}</UserText>
            </WorkflowLink>
          )}
          <Table.Td className="numbers">{countText(runs)}</Table.Td>
          <Table.Td className="numbers">
            <Cost usd={cost_usd} unpriced={unpriced_steps} />
          </Table.Td>
        </Row>
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
        label={text.byModel}
        minWidth={560}
        columns={[
          words.model,
          { label: words.steps, numbers: true },
          { label: text.tokensIn, numbers: true },
          { label: text.tokensOut, numbers: true },
          { label: words.cost, numbers: true },
        ]}
      >
        {rows.map((row) => (
          <Row key={row.model ?? 'none'}>
            <Group gap="xs">
              {row.model === null ? text.failedAttempts : <UserText>{row.model}</UserText>}
              {row.unpriced_steps > 0 && (
                <Tag size="sm" color="caution">
                  {text.unpriced(countText(row.unpriced_steps))}
                </Tag>
              )}
            </Group>
            <Table.Td className="numbers">{countText(row.steps)}</Table.Td>
            <Table.Td className="numbers">{countText(row.input_tokens)}</Table.Td>
            <Table.Td className="numbers">{countText(row.output_tokens)}</Table.Td>
            <Table.Td className="numbers">
              <Cost usd={row.cost_usd} unpriced={row.unpriced_steps} />
            </Table.Td>
          </Row>
        ))}
      </RowTable>
    </Stack>
  );
}

function Unpriced({ rows }: { rows: UsageBreakdown['by_model'] }) {
  const named = rows.flatMap(({ model }) => (model === null ? [] : [model]));
  return (
    <Alert color="caution" title={text.unpricedTitle}>
      {named.length === 0 ? (
        text.unpricedAbout
      ) : (
        <Message
          text={text.unpricedModels}
          values={{
            models: named.map((model, index) => (
              <span key={model}>
                {index > 0 && ', '}
                <UserText>{model}</UserText>
              </span>
            )),
          }}
        />
      )}
    </Alert>
  );
}

const Nothing = () => <Dimmed>{text.none}</Dimmed>;
