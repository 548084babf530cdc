import '#console/src/pages/runs/runs.css';
import './trace.css';
import { ActionIcon, Group, Select, Skeleton, Text, TextInput, Tooltip } from '@mantine/core';
import { IconFold, IconFoldDown } from '@tabler/icons-react';
import { memo, useMemo } from 'react';
import type { Run } from '#client/index.ts';
import { stepStatuses } from '#shared/contract/runs/run-kinds.ts';
import { words } from '#console/src/messages/en/words.ts';
import { trace as texts, traceFilters } from '#console/src/messages/en/runs/trace.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { sentenceCase } from '#console/src/parts/text/sentence-case.ts';
import { useOpenRun } from '#console/src/parts/open-run.ts';
import type { Items } from '#console/src/pages/runs/items.ts';
import type { Selection } from '#console/src/pages/runs/use-selection.ts';
import { allNodes, matchCount, type TraceOrder, type TraceRow } from './rows.ts';
import { Legend } from './trace-axis.tsx';
import { TraceGrid } from './trace-grid.tsx';
import { stepKeyOf, useBars, useTrace } from './use-trace.ts';

interface TraceProps {
  run: Run;
  items: Items | undefined;
  /** The key of the selected step. */
  chosen: string | undefined;
  select: Selection['select'];
  /** Whether the step is next to the trace, where it follows the arrow keys. */
  follows: boolean;
}

/** All steps of a run as one tree, each with its figures and its bar on the axis of the run. */
export function Trace(props: TraceProps) {
  const { items } = props;
  // Without the graph, it is unknown which loop repeats a step.
  if (items === undefined) return <Skeleton className="trace-grid" h="100%" />;
  return <Steps {...props} items={items} />;
}

function Steps(props: TraceProps & { items: Items }) {
  const { run, chosen, select, follows } = props;
  const trace = useTrace(props);
  const { bars, axis } = useBars(run);
  const openRun = useOpenRun();
  const { tree, rows, choice, setChoice, text, expanded, activate } = trace;
  if (run.steps.length === 0) {
    return <Empty {...texts.empty} />;
  }
  const choose = (row: TraceRow): void => {
    if (row.node.type === 'iteration') expanded.set([row.node.id], row.open !== true);
    else select(stepKeyOf(row.node));
  };
  const move = (row: number): void => {
    activate(row);
    const key = stepKeyOf(rows[row]?.node);
    if (follows && key !== undefined) select(key);
  };
  return (
    <>
      <Group gap="xs" justify="space-between">
        <Found {...{ tree, choice, text }} />
        <Group gap="xs" className="trace-filters">
          <Filters {...{ tree, choice, setChoice, expanded }} />
        </Group>
      </Group>
      <TraceGrid
        {...trace}
        {...{ bars, axis, chosen, move }}
        choose={(row) => {
          if (row.node.type === 'child') openRun(row.node.runId);
          else choose(row);
        }}
        point={(index, row) => {
          activate(index);
          choose(row);
        }}
        showFailed={select}
        close={() => select(undefined)}
      />
      <Legend />
    </>
  );
}

/** How many steps are shown. */
const Found = memo(function Found({
  tree,
  choice,
  text,
}: Pick<ReturnType<typeof useTrace>, 'tree' | 'choice' | 'text'>) {
  const steps = useMemo(() => allNodes(tree).filter(({ type }) => type === 'step').length, [tree]);
  const found = useMemo(() => matchCount(tree, { ...choice, text }), [tree, choice, text]);
  return (
    <Text size="sm" role="status">
      {texts.found(countText(found), countText(steps))}
    </Text>
  );
});

const orders: readonly { value: TraceOrder; label: string }[] = [
  { value: 'start', label: traceFilters.orders.start },
  { value: 'duration', label: traceFilters.orders.duration },
  { value: 'cost', label: traceFilters.orders.cost },
];

const Filters = memo(function Filters({
  tree,
  choice,
  setChoice,
  expanded,
}: Pick<ReturnType<typeof useTrace>, 'tree' | 'choice' | 'setChoice' | 'expanded'>) {
  const setAll = (open: boolean) => (): void =>
    expanded.set(
      allNodes(tree).flatMap(({ id, children }) => (children.length > 0 ? [id] : [])),
      open,
    );
  return (
    <>
      <TextInput
        size="xs"
        aria-label={traceFilters.search}
        placeholder={traceFilters.searchFor}
        value={choice.text}
        onChange={({ currentTarget }) => setChoice({ ...choice, text: currentTarget.value })}
      />
      <Select
        size="xs"
        aria-label={words.status}
        placeholder={traceFilters.anyStatus}
        clearable
        w={104}
        data={stepStatuses.map((value) => ({ value, label: sentenceCase(statuses[value]) }))}
        value={choice.status ?? null}
        onChange={(value) =>
          setChoice({ ...choice, status: stepStatuses.find((each) => each === value) })
        }
      />
      <Select
        size="xs"
        aria-label={traceFilters.order}
        allowDeselect={false}
        w={126}
        data={[...orders]}
        value={choice.order}
        onChange={(value) =>
          setChoice({
            ...choice,
            order: orders.find((each) => each.value === value)?.value ?? 'start',
          })
        }
      />
      <Group gap={4}>
        <IconAction label={traceFilters.expandAll} icon={IconFoldDown} onClick={setAll(true)} />
        <IconAction label={traceFilters.collapseAll} icon={IconFold} onClick={setAll(false)} />
      </Group>
    </>
  );
});

function IconAction({
  label,
  icon: ActionSign,
  onClick,
}: {
  label: string;
  icon: typeof IconFold;
  onClick: () => void;
}) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" size="input-xs" aria-label={label} onClick={onClick}>
        <ActionSign size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
