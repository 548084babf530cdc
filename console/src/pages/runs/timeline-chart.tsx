import './runs.css';
import { Group, Stack, Text } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import type { Run } from '../../../../client/index.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { durationText } from '../../parts/time.tsx';
import { stepName } from './node-states.ts';
import { PickList } from './pick-list.tsx';
import { hasEnded } from './run-facts.ts';
import {
  type Bar,
  figuresOf,
  type Phase,
  timelineOf,
  type WallPart,
  wallParts,
} from './timeline.ts';
import type { Selection } from './use-selection.ts';

const phaseNames: Record<Phase | WallPart, string> = {
  working: 'working',
  retrying: 'tried in vain',
  queued: 'queued',
  waiting: 'waiting for a person',
  rounds: 'in its rounds',
  idle: 'idle',
};

const TICK_MS = 1_000;
const ROW_HEIGHT = 26;
const AXIS = [0, 1, 2, 3] as const;

/** When each step of a run was at what, on one axis, and how the time of the run was spent in all. */
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
  const { from, to, bars, parts } = timeline;
  const wall = Math.max(1, to - from);
  const [pointed, setPointed] = useState<number>();
  const picked = useMemo(
    () => (chosen === undefined ? -1 : bars.findIndex(({ step }) => step.step_key === chosen)),
    [bars, chosen],
  );
  const told = bars[pointed ?? picked];
  return (
    <Stack gap="xs">
      <Text size="sm">
        {durationText(to - from)} in all:{' '}
        {wallParts
          .filter((part) => parts[part] > 0)
          .map((part) => `${durationText(parts[part])} ${phaseNames[part]}`)
          .join(' + ')}
      </Text>
      <div onPointerLeave={() => setPointed(undefined)}>
        <Axis wall={to - from} />
        <PickList
          label="Timeline of the steps"
          count={bars.length}
          rowHeight={ROW_HEIGHT}
          maxHeight={12 * ROW_HEIGHT}
          picked={picked === -1 ? undefined : picked}
          onPick={(row) => select(bars[row]?.step.step_key)}
          isPicked={(row) => row === picked}
          spoken={(row) => (bars[row] === undefined ? '' : spokenOf(bars[row]))}
          row={(row) =>
            bars[row] !== undefined && (
              <BarRow bar={bars[row]} from={from} wall={wall} onPoint={() => setPointed(row)} />
            )
          }
        />
      </div>
      <Text size="xs" c="dimmed" mih="1.5em">
        {told === undefined ? (
          'Point at a step, or choose it with the arrow keys, for its figures.'
        ) : (
          <Foreign>{spokenOf(told)}</Foreign>
        )}
      </Text>
      <Group gap="md" aria-label="What the bars mean" role="group">
        {(['working', 'retrying', 'queued', 'waiting', 'rounds'] as const).map((phase) => (
          <Group key={phase} gap={6} wrap="nowrap">
            <span className={`phase-swatch phase-${phase}`} aria-hidden />
            <Text size="xs" c="dimmed">
              {phaseNames[phase]}
            </Text>
          </Group>
        ))}
      </Group>
    </Stack>
  );
}

function Axis({ wall }: { wall: number }) {
  return (
    <div className="timeline-axis" aria-hidden>
      <span className="timeline-name" />
      <Group flex={1} gap={0} wrap="nowrap">
        {AXIS.map((quarter) => (
          <Text key={quarter} size="xs" c="dimmed" w="25%" truncate>
            {quarter === 0 ? '0' : durationText((wall * quarter) / AXIS.length)}
          </Text>
        ))}
      </Group>
    </div>
  );
}

function BarRow({
  bar: { step, spans },
  from,
  wall,
  onPoint,
}: {
  bar: Bar;
  from: number;
  wall: number;
  onPoint: () => void;
}) {
  return (
    <>
      <span className="timeline-name cut" onPointerEnter={onPoint}>
        <Foreign>{stepName(step)}</Foreign>
      </span>
      <span className="timeline-track" onPointerEnter={onPoint}>
        {spans.map((span) => (
          <span
            key={span.phase}
            className={`timeline-span phase-${span.phase}`}
            style={{
              left: `${((span.from - from) / wall) * 100}%`,
              width: `${((span.to - span.from) / wall) * 100}%`,
            }}
          />
        ))}
      </span>
    </>
  );
}

function spokenOf(bar: Bar): string {
  const figures = figuresOf(bar).map(({ phase, ms }) => `${durationText(ms)} ${phaseNames[phase]}`);
  const { step } = bar;
  const told = figures.length > 0 ? figures : step.status === 'skipped' ? [] : ['at once'];
  return [`${stepName(step)}: ${step.status}`, ...told].join(', ');
}

/** The present, every second while it matters. */
function useMoment(moving: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!moving) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [moving]);
  return now;
}
