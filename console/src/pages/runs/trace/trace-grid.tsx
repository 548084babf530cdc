import { VisuallyHidden } from '@mantine/core';
import { type KeyboardEvent, memo, useEffect, useId, useRef, useState } from 'react';
import { words } from '#console/src/messages/en/words.ts';
import { trace as text } from '#console/src/messages/en/runs/trace.ts';
import { treeKey } from '#console/src/parts/data/tree-keys.ts';
import type { TimeAxis } from '#console/src/pages/runs/timeline/time-axis.ts';
import type { Bars } from './bars.ts';
import type { TraceRow } from './rows.ts';
import { AxisLabels, gridOf } from './trace-axis.tsx';
import { TraceRowView } from './trace-row.tsx';
import { ROW_HEIGHT, stepKeyOf, type useTrace } from './use-trace.ts';

interface TraceGridProps extends Pick<
  ReturnType<typeof useTrace>,
  'rows' | 'expanded' | 'windowed' | 'active'
> {
  bars: Bars;
  axis: TimeAxis;
  /** The key of the selected step. */
  chosen: string | undefined;
  /** Makes a row the active one. */
  move: (row: number) => void;
  /** Opens what a row shows, by keyboard. */
  choose: (row: TraceRow) => void;
  /** Like `choose`, with the mouse, which also makes the row the active one. */
  point: (index: number, row: TraceRow) => void;
  /** Selects a failed step in a loop or map. */
  showFailed: (stepKey: string) => void;
  close: () => void;
}

/** The rows as a tree grid: one stop of the Tab key, with arrow keys inside. Only visible rows are rendered. */
export function TraceGrid(props: TraceGridProps) {
  const { rows, windowed, active, axis, expanded, move, choose, close } = props;
  const id = useId();
  const actions = useRowActions(props);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(event.currentTarget.clientHeight / ROW_HEIGHT) - 2);
    const action = treeKey(event.key, rows, active, page);
    if (action === undefined) return;
    event.preventDefault();
    if (action === 'close') close();
    else if ('to' in action) move(action.to);
    else if ('open' in action) expanded.set([action.row.node.id], action.open);
    else choose(action.choose);
  };
  return (
    <div className="trace" style={gridOf(axis)}>
      <div
        ref={windowed.frame}
        className="trace-grid"
        role="treegrid"
        tabIndex={0}
        aria-label={words.steps}
        aria-rowcount={rows.length + 1}
        aria-activedescendant={
          active !== undefined && windowed.rows.includes(active) ? `${id}-${active}` : undefined
        }
        onKeyDown={onKeyDown}
      >
        <Head axis={axis} />
        <div style={{ height: windowed.before }} />
        {windowed.rows.map((index) => {
          const row = rows[index];
          return (
            row !== undefined && (
              <Row
                key={row.node.id}
                id={`${id}-${index}`}
                {...{ index, row, axis, actions }}
                bars={props.bars}
                active={index === active}
                chosen={row.node.type === 'step' && stepKeyOf(row.node) === props.chosen}
              />
            )
          );
        })}
        <div style={{ height: windowed.after }} />
      </div>
    </div>
  );
}

interface RowActions {
  point: (index: number, row: TraceRow) => void;
  toggle: (row: TraceRow) => void;
  showFailed: (stepKey: string) => void;
}

/** The actions of the rows. They stay the same objects, so that scrolling only renders the rows that come into view. */
function useRowActions(props: TraceGridProps): RowActions {
  const latest = useRef(props);
  useEffect(() => {
    latest.current = props;
  });
  const [actions] = useState<RowActions>(() => ({
    point: (index, row) => latest.current.point(index, row),
    showFailed: (stepKey) => latest.current.showFailed(stepKey),
    toggle: ({ node, open }) => latest.current.expanded.set([node.id], open !== true),
  }));
  return actions;
}

const Row = memo(function Row({
  bars,
  actions,
  ...row
}: {
  id: string;
  index: number;
  row: TraceRow;
  active: boolean;
  chosen: boolean;
  axis: TimeAxis;
  bars: Bars;
  actions: RowActions;
}) {
  const { node } = row.row;
  return (
    <TraceRowView
      {...row}
      segments={bars.segmentsOf(node)}
      times={bars.textOf(node)}
      onChoose={() => actions.point(row.index, row.row)}
      onShowFailed={actions.showFailed}
      onToggle={() => actions.toggle(row.row)}
    />
  );
});

const columns = [
  { name: words.step },
  { name: words.status, className: 'trace-status' },
  { name: words.duration, className: 'numbers trace-duration' },
  { name: words.cost, className: 'numbers trace-cost' },
  { name: text.tokens, className: 'numbers trace-tokens' },
] as const;

function Head({ axis }: { axis: TimeAxis }) {
  return (
    <div role="row" className="trace-head" aria-rowindex={1}>
      {columns.map(({ name, ...look }) => (
        <span key={name} role="columnheader" {...look}>
          {name}
        </span>
      ))}
      <span role="columnheader" className="trace-track">
        <VisuallyHidden>{text.timeline}</VisuallyHidden>
        <AxisLabels axis={axis} />
      </span>
    </div>
  );
}
