import { Text, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { CSSProperties, ReactNode } from 'react';
import { traceRow as text } from '#console/src/messages/en/runs/trace.ts';
import { tallies } from '#console/src/messages/en/runs/steps.ts';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { Cost } from '#console/src/parts/text/cost.tsx';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { TimeAxis } from '#console/src/pages/runs/timeline/time-axis.ts';
import { LiveLine } from '#console/src/pages/runs/conversation/step-output.tsx';
import type { Segment } from './bars.ts';
import { type RowTexts, rowTexts } from './row-texts.ts';
import type { TraceRow } from './rows.ts';
import { percent } from './trace-axis.tsx';

interface TraceRowProps {
  id: string;
  index: number;
  row: TraceRow;
  chosen: boolean;
  active: boolean;
  segments: readonly Segment[];
  /** The times of the bar in words. */
  times: string;
  axis: TimeAxis;
  onChoose: () => void;
  onToggle: () => void;
  onShowFailed: (stepKey: string) => void;
}

/** One row of the trace. In a narrow frame, its cells are hidden and the bar is below the name. */
export function TraceRowView(props: TraceRowProps) {
  const { id, index, row, chosen, active, segments, times, axis, onChoose } = props;
  const texts = rowTexts(row.node);
  return (
    <div
      id={id}
      role="row"
      className="trace-row"
      aria-rowindex={index + 2}
      aria-level={row.level}
      aria-posinset={row.place}
      aria-setsize={row.of}
      aria-expanded={row.open}
      aria-selected={chosen}
      data-active={active || undefined}
      onClick={onChoose}
    >
      <NameCell {...props} texts={texts} />
      <span role="gridcell" className="trace-status">
        <State {...props} texts={texts} />
      </span>
      <NumberCell className="trace-duration">
        {texts.ms !== undefined && durationText(texts.ms)}
      </NumberCell>
      <NumberCell className="trace-cost">{costOf(texts)}</NumberCell>
      <NumberCell className="trace-tokens">
        {texts.tokens !== undefined && countText(texts.tokens)}
      </NumberCell>
      <span role="gridcell" className="trace-track" title={times || undefined} aria-label={times}>
        <BarOf segments={segments} axis={axis} row={row} />
      </span>
    </div>
  );
}

/** The state; the number of failed items leads to the first of them. The keyboard has `f` for that. */
function State({ row: { node }, texts: { status, failedItems }, onShowFailed }: RowParts) {
  if (status === undefined) return null;
  const badge = <StateBadge state={status} failed={failedItems} size="sm" />;
  const failed = node.type === 'step' ? node.tally?.firstFailed : undefined;
  if (failed === undefined) return badge;
  return (
    <UnstyledButton
      tabIndex={-1}
      title={tallies.showFailed}
      onClick={(event) => {
        event.stopPropagation();
        onShowFailed(failed);
      }}
    >
      {badge}
    </UnstyledButton>
  );
}

type RowParts = TraceRowProps & { texts: RowTexts };

const costOf = ({ cost, unpriced }: RowTexts): ReactNode => {
  if (unpriced) return <Cost usd={cost ?? 0} unpriced={1} />;
  return cost !== undefined && cost > 0 && dollarsText(cost);
};

const NumberCell = ({ className, children }: { className: string; children: ReactNode }) => (
  <span role="gridcell" className={`numbers ${className}`}>
    {children}
  </span>
);

function NameCell({ row, texts, onToggle }: RowParts) {
  const { icon: KindIcon, kind, name, note, error, runId } = texts;
  return (
    <span
      role="gridcell"
      className="trace-name"
      style={{ '--level': row.level - 1 } as CSSProperties}
    >
      <Toggle open={row.open} onToggle={onToggle} />
      <span className="trace-kind" title={kind}>
        <KindIcon size={16} stroke={1.6} aria-hidden />
      </span>
      {runId === undefined ? (
        <span className="cut trace-label" data-plain={row.node.type !== 'step' || undefined}>
          <UserText>{name}</UserText>
        </span>
      ) : (
        <ChildLink name={name} runId={runId} />
      )}
      {note !== undefined && (
        <Text span size="xs" c="dimmed" className="trace-note">
          {note}
        </Text>
      )}
      <LiveRow row={row} />
      {error !== undefined && (
        <Text span size="xs" c="dimmed" className="cut" title={error}>
          <UserText>{error}</UserText>
        </Text>
      )}
    </span>
  );
}

/** What the model is writing, in the row of the agent or, while that is open, of the turn. */
function LiveRow({ row: { node, open } }: Pick<RowParts, 'row'>) {
  if (node.type !== 'step' || node.step.status !== 'running') return null;
  const { kind, step_key: key, parent_step_key: agent, turn, tool_call: call } = node.step;
  if (kind !== 'agent' || call !== undefined || open === true) return null;
  return <LiveLine stepKey={agent ?? key} turn={turn} />;
}

/** Rows are reached with the arrow keys, and Enter opens this one. */
const ChildLink = ({ name, runId }: { name: string; runId: string }) => (
  <span className="cut">
    {name}{' '}
    <Link
      to="/runs/$runId"
      params={{ runId }}
      search={{ step: undefined, tab: undefined }}
      tabIndex={-1}
      className="trace-link"
      onClick={(event) => event.stopPropagation()}
    >
      {runId}
    </Link>
  </span>
);

/** For the mouse. The keyboard has the arrow keys, and screen readers get the state of the row. */
function Toggle({ open, onToggle }: { open: boolean | undefined; onToggle: () => void }) {
  if (open === undefined) return <span className="trace-toggle" />;
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <button
      type="button"
      className="trace-toggle"
      tabIndex={-1}
      aria-label={open ? text.collapse : text.expand}
      onClick={(event) => {
        event.stopPropagation();
        onToggle();
      }}
    >
      <Chevron size={16} aria-hidden />
    </button>
  );
}

function BarOf({
  segments,
  axis: { shareOf },
  row: { node },
}: {
  segments: readonly Segment[];
  axis: TimeAxis;
  row: TraceRow;
}) {
  const atOnce = segments.length === 0 && node.type === 'step' && node.step.status !== 'skipped';
  return (
    <span className="trace-lane" aria-hidden>
      {segments.map(({ phase, from, to }, index) => (
        <span
          key={index}
          className={`trace-span phase-${phase}`}
          style={{ left: percent(shareOf(from)), width: percent(shareOf(to) - shareOf(from)) }}
        />
      ))}
      {atOnce && (
        <span
          className="trace-span trace-moment"
          style={{ left: percent(shareOf(Date.parse(node.step.started_at))) }}
        />
      )}
    </span>
  );
}
