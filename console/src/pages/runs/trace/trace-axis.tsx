import { Group, Kbd } from '@mantine/core';
import { type CSSProperties, memo } from 'react';
import { trace as text } from '#console/src/messages/en/runs/trace.ts';
import { Message } from '#console/src/messages/message.tsx';
import type { TimeAxis } from '#console/src/pages/runs/timeline/time-axis.ts';
import { phaseNames } from '#console/src/messages/en/runs/trace.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** The labels of the ticks, and of the shortened waits. */
export function AxisLabels({ axis: { ticks, breaks } }: { axis: TimeAxis }) {
  return (
    <span className="trace-labels" aria-hidden>
      {ticks.map(({ share, label }) => (
        <span key={share} className="trace-tick" style={{ left: withinEdge(share, label) }}>
          {label}
        </span>
      ))}
      {breaks.map(({ from, to, label }) => (
        <span key={`break ${from}`} className="trace-break" style={withinEdges((from + to) / 2)}>
          ⋯ {label} ⋯
        </span>
      ))}
    </span>
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

export const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

/** The background of each bar: tick lines, and a band where the axis is shortened. */
export function gridOf({ ticks, breaks }: TimeAxis): CSSProperties {
  const line = 'var(--mantine-color-default-border)';
  const lines = ticks.map(
    ({ share }) =>
      `linear-gradient(to right, transparent ${percent(share)}, ${line} ${percent(share)}, ${line} calc(${percent(share)} + 1px), transparent calc(${percent(share)} + 1px))`,
  );
  const bands = breaks.map(
    ({ from, to }) =>
      `linear-gradient(to right, transparent ${percent(from)}, var(--trace-break) ${percent(from)}, var(--trace-break) ${percent(to)}, transparent ${percent(to)})`,
  );
  const layers = [...lines, ...bands].join(', ');
  return { '--trace-grid': layers === '' ? 'none' : layers } as CSSProperties;
}

/** What the colors and patterns of the bars mean. */
export const Legend = memo(function Legend() {
  return (
    <Group gap="4px 16px" aria-label={text.legend} role="group">
      {(['working', 'retrying', 'queued', 'waiting', 'iterations'] as const).map((phase) => (
        <Group key={phase} gap={6} wrap="nowrap">
          <span
            className={`trace-swatch phase-${phase === 'retrying' ? 'tried' : phase}`}
            aria-hidden
          />
          <Dimmed size="xs">{phaseNames[phase]}</Dimmed>
        </Group>
      ))}
      <Dimmed size="xs">
        <Message
          text={text.keys}
          values={{
            next: <Kbd size="xs">j</Kbd>,
            previous: <Kbd size="xs">k</Kbd>,
            failed: <Kbd size="xs">f</Kbd>,
          }}
        />
      </Dimmed>
    </Group>
  );
});
