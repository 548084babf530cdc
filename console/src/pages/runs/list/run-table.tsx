import { Checkbox, Table, Text } from '@mantine/core';
import type { RunSummary } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runTable as text } from '#console/src/messages/en/runs/list.ts';
import { triggers } from '#console/src/messages/en/parts/values.ts';
import { RunLink } from '#console/src/parts/links.tsx';
import { RunBadge, RunTags } from '#console/src/parts/run-badges.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { dollarsText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { Selection } from './use-selected-runs.ts';
import { Row } from '#console/src/parts/data/row-table.tsx';

/** Runs as rows. Without a selection, they have no checkboxes. */
export function RunTable({
  runs,
  selection,
}: {
  runs: readonly RunSummary[];
  selection: Selection | undefined;
}) {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table aria-label={text.label} verticalSpacing="xs" highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            {selection !== undefined && (
              <Table.Th w={36}>
                <Checkbox
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
            <Table.Th className="numbers">{words.duration}</Table.Th>
            <Table.Th className="numbers">{words.cost}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => {
            const selected = selection?.has(run.id) === true;
            return (
              <Row
                key={run.id}
                aria-selected={selection === undefined ? undefined : selected}
                {...(selected ? { bg: 'var(--mantine-color-default-hover)' } : {})}
              >
                {selection !== undefined && (
                  <Table.Td>
                    <Checkbox
                      aria-label={text.select(run.id)}
                      checked={selected}
                      onChange={() => undefined}
                      // A change event does not say whether Shift is held.
                      onClick={({ shiftKey }) => selection.toggle(run, shiftKey ? runs : [])}
                    />
                  </Table.Td>
                )}
                <RunLink run={run.id} fw={600}>
                  <UserText>{run.workflow_name}</UserText>{' '}
                  <Text span display="block" size="xs" c="dimmed" className="pre">
                    {run.id}
                  </Text>
                </RunLink>
                <Table.Td maw={280}>
                  <RunBadge run={run} /> <RunTags run={run} />
                  {run.error !== null && (
                    <Text size="xs" c="dimmed" lineClamp={2}>
                      <UserText>{run.error}</UserText>
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>{triggers[run.trigger]}</Table.Td>
                <When at={run.created_at} ago />
                <Table.Td className="numbers">{durationText(run.duration_ms)}</Table.Td>
                <Table.Td className="numbers">{dollarsText(run.cost_usd)}</Table.Td>
              </Row>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
