import '#console/src/parts/data/row-table.css';
import './run-table.css';
import { Checkbox, Group, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import type { ListedRun } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runTable as text } from '#console/src/messages/en/runs/list.ts';
import { runTimes, triggers } from '#console/src/messages/en/parts/values.ts';
import { RunLink } from '#console/src/parts/links.tsx';
import { RunBadge, RunTags } from '#console/src/parts/run-badges.tsx';
import { CopyId, IdEnd } from '#console/src/parts/short-id.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { Cost } from '#console/src/parts/text/cost.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { membersQuery } from '#console/src/queries/members.ts';
import type { Selection } from './use-selected-runs.ts';

/** A window full of rows. The others follow once these are drawn, so that a change of page does not wait for them. */
const SHOWN_FIRST = 20;

/** Runs as rows, and as cards on a phone. Without a selection, they have no checkboxes. */
export function RunTable({
  runs,
  selection,
}: {
  runs: readonly ListedRun[];
  selection: Selection | undefined;
}) {
  const { data: members = [] } = useQuery(membersQuery);
  const shown = useDeferredValue(runs, runs.slice(0, SHOWN_FIRST));
  return (
    <Table.ScrollContainer
      minWidth={760}
      type="native"
      className="row-table run-table"
      pos="relative"
    >
      <Table aria-label={text.label} highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {selection !== undefined && (
              <Table.Th w={36}>
                <Checkbox
                  size="xs"
                  aria-label={text.selectAll}
                  checked={selection.allOf(runs)}
                  indeterminate={selection.runs.length > 0 && !selection.allOf(runs)}
                  onChange={({ currentTarget: { checked } }) =>
                    selection.setAll(checked ? runs : [])
                  }
                />
              </Table.Th>
            )}
            <Table.Th>{words.run}</Table.Th>
            <Table.Th>{words.status}</Table.Th>
            <Table.Th>{words.startedBy}</Table.Th>
            <Table.Th>{words.created}</Table.Th>
            <Table.Th className="numbers">{runTimes.working}</Table.Th>
            <Table.Th className="numbers">{words.cost}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {shown.map((run) => (
            <RunRow
              key={run.id}
              run={run}
              starter={members.find(({ id }) => id === run.created_by)?.name}
              selection={selection}
              onSelect={(shiftKey) => selection?.toggle(run, shiftKey ? runs : [])}
            />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function RunRow({
  run,
  starter,
  selection,
  onSelect,
}: {
  run: ListedRun;
  /** The name of the member who started it, if it is known. */
  starter: string | undefined;
  selection: Selection | undefined;
  onSelect: (shiftKey: boolean) => void;
}) {
  const selected = selection?.has(run.id) === true;
  return (
    <Table.Tr
      aria-selected={selection === undefined ? undefined : selected}
      {...(selected ? { bg: 'var(--mantine-color-default-hover)' } : {})}
    >
      {selection !== undefined && (
        <Table.Td className="run-check">
          <Checkbox
            size="xs"
            aria-label={text.select(run.id)}
            checked={selected}
            onChange={() => undefined}
            // A change event does not say whether Shift is held.
            onClick={({ shiftKey }) => onSelect(shiftKey)}
          />
        </Table.Td>
      )}
      <Table.Td className="run-name">
        <Group gap={6} wrap="nowrap">
          <RunLink run={run.id} fw={500} truncate>
            <UserText>{run.workflow_name}</UserText> <IdEnd id={run.id} />
          </RunLink>
          {run.input_excerpt !== null && (
            <Text
              span
              size="xs"
              c="dimmed"
              truncate
              title={run.input_excerpt}
              className="run-input"
            >
              <UserText>{run.input_excerpt}</UserText>
            </Text>
          )}
          <CopyId id={run.id} />
        </Group>
      </Table.Td>
      <Table.Td className="run-state">
        <Group gap={6} wrap="nowrap">
          <RunBadge run={run} /> <RunTags run={run} />
          {run.error !== null && (
            <Text span size="xs" c="dimmed" truncate title={run.error}>
              <UserText>{run.error}</UserText>
            </Text>
          )}
        </Group>
      </Table.Td>
      <Table.Td className="run-by">
        {starter !== undefined && (
          <>
            <UserText>{starter}</UserText>
            {' · '}
          </>
        )}
        {triggers[run.trigger]}
      </Table.Td>
      <Table.Td>
        <When at={run.created_at} ago />
      </Table.Td>
      <Table.Td className="numbers">{durationText(run.duration_ms)}</Table.Td>
      <Table.Td className="numbers">
        <Cost usd={run.cost_usd} unpriced={run.unpriced_steps} />
      </Table.Td>
    </Table.Tr>
  );
}
