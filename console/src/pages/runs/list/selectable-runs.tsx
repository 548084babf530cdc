import { Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Approval, ListedRun } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { bulkBar as text } from '#console/src/messages/en/runs/list.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { approvalsQuery, type RunFilter } from '#console/src/queries/runs.ts';
import { type BulkAction, runsFor } from './bulk.ts';
import { confirmBulk } from './confirm-bulk.tsx';
import { RunTable } from './run-table.tsx';
import { type Selection, useSelectedRuns } from './use-selected-runs.ts';

const NO_GATES: readonly Approval[] = [];

/** The maximum number of runs in one action. */
const MAX_SELECTED = 500;

/** The list with checkboxes, and the possible actions on the selected runs, for members who can perform them. */
export function SelectableRuns({
  runs,
  filter,
}: {
  runs: readonly ListedRun[];
  filter: RunFilter;
}) {
  const selection = useSelectedRuns();
  const mayChange = useMay('cancel_resume');
  const mayApprove = useMay('approve_gates');
  const actions: BulkAction[] = [
    ...(mayApprove ? (['approve'] as const) : []),
    ...(mayChange ? (['resume', 'cancel'] as const) : []),
  ];
  if (actions.length === 0) return <RunTable runs={runs} selection={undefined} />;
  return (
    <>
      {selection.runs.length > 0 && (
        <BulkBar selection={selection} actions={actions} filter={filter} />
      )}
      <RunTable runs={runs} selection={selection} />
    </>
  );
}

function BulkBar({
  selection,
  actions,
  filter,
}: {
  selection: Selection;
  actions: readonly BulkAction[];
  filter: RunFilter;
}) {
  const [more, setMore] = useState(false);
  const selectAll = useAction(() => allMatching(filter), {
    changes: [],
    onDone: ({ runs, cut }) => {
      selection.setAll(runs);
      setMore(cut);
    },
  });
  const count = selection.runs.length;
  return (
    <Group
      gap="xs"
      role="toolbar"
      aria-label={text.label}
      pos="sticky"
      top={56}
      bg="var(--mantine-color-body)"
      py={6}
      style={{ zIndex: 2 }}
    >
      <Text size="sm" fw={600} role="status">
        {more && count === MAX_SELECTED ? text.firstSelected(count) : text.selected(count)}
      </Text>
      {actions.map((action) => (
        <BulkButton key={action} action={action} selection={selection} />
      ))}
      <ActionButton size="compact-sm" action={selectAll} variant="subtle">
        {text.selectAll}
      </ActionButton>
      <Button size="compact-sm" variant="subtle" onClick={() => selection.setAll([])}>
        {text.clear}
      </Button>
    </Group>
  );
}

/** Acts on those of the selected runs for which the action is possible. */
function BulkButton({ action, selection }: { action: BulkAction; selection: Selection }) {
  const { data: gates = NO_GATES, isSuccess, hasNextPage } = useInfiniteQuery(approvalsQuery());
  const open = { gates, complete: isSuccess && !hasNextPage };
  const possible = runsFor(action, selection.runs, open);
  return (
    <Button
      size="compact-sm"
      variant="default"
      disabled={possible.length === 0}
      onClick={() =>
        confirmBulk(action, possible, {
          left: selection.runs.length - possible.length,
          onStart: () => selection.setAll([]),
        })
      }
    >
      {text.actions[action](countText(possible.length))}
    </Button>
  );
}

async function allMatching(filter: RunFilter): Promise<{ runs: ListedRun[]; cut: boolean }> {
  const runs: ListedRun[] = [];
  for await (const run of api().runs({ ...filter, limit: 200 })) {
    if (runs.length === MAX_SELECTED) return { runs, cut: true };
    runs.push(run);
  }
  return { runs, cut: false };
}
