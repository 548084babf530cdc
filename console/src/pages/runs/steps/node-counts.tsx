import { Button, Group, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Run, Step } from '#client/index.ts';
import { repeats } from '#shared/graph/kinds.ts';
import { kindNames } from '#console/src/messages/en/graph.ts';
import { words } from '#console/src/messages/en/words.ts';
import { nodeCounts as text, tallies } from '#console/src/messages/en/runs/steps.ts';
import { statuses as statusNames } from '#console/src/messages/en/parts/values.ts';
import { LoadMore } from '#console/src/parts/data/load-more.tsx';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { runStepsQuery } from '#console/src/queries/runs.ts';
import type { Items, Tally } from '#console/src/pages/runs/items.ts';
import { stepName } from '#console/src/pages/runs/node-states.ts';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';

type StepCount = NonNullable<Run['step_counts']>[number];
type Status = Step['status'];

interface NodeStepsProps {
  run: Run;
  items: Items | undefined;
  /** The key of the selected step. */
  chosen: string | undefined;
  select: Selection['select'];
}

/** A run with more steps than its record contains: one row per node, whose steps are read page by page. */
export function NodeCounts({ run, items, chosen, select }: NodeStepsProps) {
  const [open, setOpen] = useState<string>();
  const counts = run.step_counts ?? [];
  return (
    <Stack gap="sm">
      <RowTable
        label={text.table}
        minWidth={520}
        columns={[words.node, words.kind, { label: words.steps, numbers: true }, words.status]}
      >
        {counts.map((count) => (
          <CountRow
            key={count.node_id}
            count={count}
            tally={items?.ofNode(count.node_id)}
            select={select}
            open={open === count.node_id}
            toggle={() => setOpen(open === count.node_id ? undefined : count.node_id)}
          />
        ))}
      </RowTable>
      {open !== undefined && (
        <StepsOfNode
          key={open}
          nodeId={open}
          failed={counts.some((each) => each.node_id === open && (each.by_status.failed ?? 0) > 0)}
          {...{ run, chosen, select }}
        />
      )}
    </Stack>
  );
}

/** How many steps have each status. What failed in items has its own place. */
const countsOf = ({ by_status }: StepCount, tally: Tally | undefined) =>
  (Object.entries(by_status) as [Status, number][]).filter(
    ([status]) => status !== 'failed' || tally === undefined || tally.failed === 0,
  );

function CountRow({
  count,
  tally,
  select,
  open,
  toggle,
}: {
  count: StepCount;
  tally: Tally | undefined;
  select: Selection['select'];
  open: boolean;
  toggle: () => void;
}) {
  return (
    <Row data-chosen={open || undefined}>
      <UnstyledButton fz="sm" fw={600} aria-expanded={open} onClick={toggle}>
        <UserText>{count.label}</UserText>
      </UnstyledButton>
      <Table.Td>
        {kindNames[count.kind]}
        {repeats(count) && tally !== undefined && ` · ${tallies[tally.of](tally.total)}`}
      </Table.Td>
      <Table.Td className="numbers">{countText(count.total)}</Table.Td>
      <Group gap="xs">
        {tally !== undefined && tally.failed > 0 && (
          <UnstyledButton title={tallies.showFailed} onClick={() => select(tally.firstFailed)}>
            <StateBadge state="failed" failed={tally.failed} />
          </UnstyledButton>
        )}
        {countsOf(count, tally).map(([status, number]) => (
          <Group key={status} gap={4}>
            <StateBadge state={status} />
            <Text size="sm">{countText(number)}</Text>
          </Group>
        ))}
      </Group>
    </Row>
  );
}

const statuses: readonly (Status | undefined)[] = [undefined, 'failed', 'running', 'paused'];

/** The steps of one node: at first, those that failed, if any did. */
function StepsOfNode({
  nodeId,
  failed,
  run,
  chosen,
  select,
}: Omit<NodeStepsProps, 'items'> & { nodeId: string; failed: boolean }) {
  const [status, setStatus] = useState<Status | undefined>(failed ? 'failed' : undefined);
  const query = useInfiniteQuery(runStepsQuery(run.id, { node_id: nodeId, status }));
  const steps = query.data?.pages.flatMap((page) => page.steps) ?? [];
  return (
    <Stack gap="xs" role="region" aria-label={text.stepsOf(nodeId)}>
      <Group gap="xs">
        {statuses.map((each) => (
          <Button
            key={each ?? 'all'}
            size="compact-sm"
            variant={each === status ? 'filled' : 'default'}
            aria-pressed={each === status}
            onClick={() => setStatus(each)}
          >
            {each === undefined ? text.all : statusNames[each]}
          </Button>
        ))}
      </Group>
      {query.isSuccess && steps.length === 0 && <Text size="sm">{text.empty}</Text>}
      <Table aria-label={text.stepsOf(nodeId)} verticalSpacing={4}>
        <Table.Tbody>
          {steps.map((step) => (
            <Row key={step.step_key} data-chosen={step.step_key === chosen || undefined}>
              <UnstyledButton
                fz="sm"
                aria-pressed={step.step_key === chosen}
                onClick={() => select(step.step_key)}
              >
                <UserText>{stepName(step)}</UserText>
              </UnstyledButton>
              <StateBadge state={step.status} />
              <Table.Td className="numbers">
                {step.duration_ms === null ? '' : durationText(step.duration_ms)}
              </Table.Td>
              <Table.Td className="numbers">{dollarsText(step.cost_usd)}</Table.Td>
            </Row>
          ))}
        </Table.Tbody>
      </Table>
      <LoadMore query={query} />
    </Stack>
  );
}
