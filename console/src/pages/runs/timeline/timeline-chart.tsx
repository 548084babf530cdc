import '../runs.css';
import { Group, Stack, Text } from '@mantine/core';
import { type CSSProperties, useMemo, useState } from 'react';
import type { Run, Step } from '../../../../../client/index.ts';
import { UserText } from '../../../parts/text/user-text.tsx';
import { useMoment } from '../../../parts/text/now.ts';
import { durationText } from '../../../parts/text/duration.ts';
import { iterationMark, stepName } from '../node-states.ts';
import { PickList } from '../pick-list.tsx';
import { hasEnded } from '../run-facts.ts';
import { depthOf, isNodeStep, listedName, unfolded } from '../steps/agent-steps.ts';
import { shownState } from '../steps/step-state.ts';
import { axisOf, type TimeAxis } from './time-axis.ts';
import {
  type Bar,
  figuresOf,
  type Phase,
  type Timeline,
  timelineOf,
  type WallPart,
  wallParts,
} from './timeline.ts';
import type { Selection } from '../use-selection.ts';

const phaseNames: Record<Phase | WallPart, string> = {
  working: 'working',
  retrying: 'failed attempts',
  queued: 'queued',
  waiting: 'waiting for approval',
  iterations: 'in iterations',
  idle: 'idle',
};

const ROW_HEIGHT = 26;

/** The phases of each step of a run on one axis, and the total time of the run by activity. */
export function TimelineChart({
  run,
  chosen,
  select,
}: {
  run: Run;
  /** The key of the selected step. */
  chosen: string | undefined;
  select: Selection['select'];
}) {
  const now = useMoment(!hasEnded(run));
  const timeline = useMemo(() => timelineOf(run, now), [run, now]);
  const { from, to, parts } = timeline;
  const bars = useShownBars(timeline, run.steps, chosen);
  const axis = useMemo(() => axisOf(timeline), [timeline]);
  const [pointed, setPointed] = useState<number>();
  const picked = useMemo(
    () => (chosen === undefined ? -1 : bars.findIndex(({ step }) => step.step_key === chosen)),
    [bars, chosen],
  );
  const shown = bars[pointed ?? picked];
  return (
    <Stack gap="xs">
      <Text size="sm">
        {durationText(to - from)} total:{' '}
        {wallParts
          .filter((part) => parts[part] > 0)
          .map((part) => `${durationText(parts[part])} ${phaseNames[part]}`)
          .join(' + ')}
      </Text>
      <div onPointerLeave={() => setPointed(undefined)} style={gridOf(axis)}>
        <Axis axis={axis} />
        <PickList
          label="Step timeline"
          count={bars.length}
          rowHeight={ROW_HEIGHT}
          maxHeight={12 * ROW_HEIGHT}
          picked={picked === -1 ? undefined : picked}
          onPick={(row) => select(bars[row]?.step.step_key)}
          isPicked={(row) => row === picked}
          spoken={(row) => (bars[row] === undefined ? '' : describeBar(bars[row]))}
          row={(row) =>
            bars[row] !== undefined && (
              <BarRow bar={bars[row]} axis={axis} onPoint={() => setPointed(row)} />
            )
          }
        />
      </div>
      <Text size="xs" c="dimmed" mih="1.5em">
        {shown === undefined ? (
          'Hover over a step, or select it with the arrow keys, to see its times.'
        ) : (
          <UserText>{describeBar(shown)}</UserText>
        )}
      </Text>
      <Legend />
    </Stack>
  );
}

/** The bars of the steps that are listed, in their order. */
const useShownBars = (
  { bars }: Timeline,
  steps: readonly Step[],
  chosen: string | undefined,
): readonly Bar[] =>
  useMemo(() => {
    const byStep = new Map(bars.map((bar) => [bar.step, bar]));
    return unfolded(steps, chosen).flatMap((step) => byStep.get(step) ?? []);
  }, [bars, steps, chosen]);

function Legend() {
  return (
    <Group gap="md" aria-label="Legend" role="group">
      {(['working', 'retrying', 'queued', 'waiting', 'iterations'] as const).map((phase) => (
        <Group key={phase} gap={6} wrap="nowrap">
          <span className={`phase-swatch phase-${phase}`} aria-hidden />
          <Text size="xs" c="dimmed">
            {phaseNames[phase]}
          </Text>
        </Group>
      ))}
    </Group>
  );
}

function Axis({ axis: { ticks, breaks } }: { axis: TimeAxis }) {
  return (
    <div className="timeline-axis" aria-hidden>
      <span className="timeline-name" />
      <div className="timeline-labels">
        {ticks.map(({ share, label }) => (
          <span key={share} style={{ left: withinEdge(share, label) }}>
            {label}
          </span>
        ))}
        {breaks.map(({ from, to, label }) => (
          <span
            key={`break ${from}`}
            className="timeline-break"
            style={withinEdges((from + to) / 2)}
          >
            ⋯ {label} ⋯
          </span>
        ))}
      </div>
    </div>
  );
}

/** At the tick, or moved left so that the text ends at the edge. */
const withinEdge = (share: number, label: string): string =>
  `min(${percent(share)}, calc(100% - ${label.length}ch))`;

/** Shifts the text left by the same share of its own width, so that it stays within the edges. */
const withinEdges = (share: number): CSSProperties => ({
  left: percent(share),
  transform: `translateX(-${percent(share)})`,
});

const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

/** The background of each row: tick lines, and a hatched band where the axis is shortened. */
function gridOf({ ticks, breaks }: TimeAxis): CSSProperties {
  const line = 'var(--mantine-color-default-border)';
  const lines = ticks.map(
    ({ share }) =>
      `linear-gradient(to right, transparent ${percent(share)}, ${line} ${percent(share)}, ${line} calc(${percent(share)} + 1px), transparent calc(${percent(share)} + 1px))`,
  );
  const bands = breaks.map(
    ({ from, to }) =>
      `linear-gradient(to right, transparent ${percent(from)}, var(--timeline-break) ${percent(from)}, var(--timeline-break) ${percent(to)}, transparent ${percent(to)})`,
  );
  const layers = [...lines, ...bands].join(', ');
  return { '--timeline-grid': layers === '' ? 'none' : layers } as CSSProperties;
}

function BarRow({
  bar: { step, spans },
  axis: { shareOf },
  onPoint,
}: {
  bar: Bar;
  axis: TimeAxis;
  onPoint: () => void;
}) {
  const atOnce = spans.length === 0 && step.status !== 'skipped';
  return (
    <>
      <span
        className="timeline-name"
        style={{ paddingInlineStart: `${depthOf(step) * 0.75}rem` }}
        onPointerEnter={onPoint}
      >
        <span className="cut">
          <UserText>{listedName(step)}</UserText>
        </span>{' '}
        {iterationMark(step)}
      </span>
      <span className="timeline-track" onPointerEnter={onPoint}>
        {spans.map((span) => (
          <span
            key={span.from}
            className={`timeline-span phase-${span.phase}`}
            style={{
              left: percent(shareOf(span.from)),
              width: percent(shareOf(span.to) - shareOf(span.from)),
            }}
          />
        ))}
        {atOnce && (
          <span
            className="timeline-span timeline-moment"
            style={{ left: percent(shareOf(Date.parse(step.started_at))) }}
          />
        )}
      </span>
    </>
  );
}

function describeBar(bar: Bar): string {
  const figures = figuresOf(bar).map(({ phase, ms }) => `${durationText(ms)} ${phaseNames[phase]}`);
  const { step } = bar;
  const details = figures.length > 0 ? figures : step.status === 'skipped' ? [] : [durationText(0)];
  const name = isNodeStep(step) ? stepName(step) : listedName(step);
  return [`${name}: ${shownState(step)}`, ...details].join(', ');
}
