import type { Step } from '#client/index.ts';
import { phaseNames, trace as text } from '#console/src/messages/en/runs/trace.ts';
import { durationText } from '#console/src/parts/text/duration.ts';
import type { Bar, Phase, Timeline } from '#console/src/pages/runs/timeline/timeline.ts';
import { figuresOf } from '#console/src/pages/runs/timeline/timeline.ts';
import { sumsOf, type TraceNode } from './tree.ts';

/** A part of a bar, in milliseconds since 1970. `tried` is one failed attempt within the time of all of them. */
export interface Segment {
  phase: Phase | 'tried';
  from: number;
  to: number;
}

/** The bars of the rows of a trace, on the axis of the run. */
export interface Bars {
  segmentsOf: (node: TraceNode) => readonly Segment[];
  /** The times of a row in words; empty if it has none. */
  textOf: (node: TraceNode) => string;
}

export function barsOf({ bars, from, to }: Timeline): Bars {
  const byKey = new Map(bars.map((bar) => [bar.step.step_key, bar]));
  const within = ({ phase, ...span }: Segment): Segment[] => {
    const cut = { phase, from: Math.max(span.from, from), to: Math.min(span.to, to) };
    return cut.to >= cut.from ? [cut] : [];
  };
  const segmentsOf = (node: TraceNode): Segment[] => {
    switch (node.type) {
      case 'step': {
        const spans = byKey.get(node.id)?.spans ?? [];
        return [...spans, ...triedIn(node.step).flatMap(within)];
      }
      case 'attempt':
        return within(attemptSpan(node.attempt, to));
      case 'iteration': {
        const sums = sumsOf(node);
        return within({ phase: 'iterations', from: sums.from, to: sums.to ?? to });
      }
      case 'child':
        return [];
    }
  };
  const textOf = (node: TraceNode): string => {
    const bar = node.type === 'step' ? byKey.get(node.id) : undefined;
    return bar === undefined ? '' : barText(bar);
  };
  return { segmentsOf, textOf };
}

type Attempt = Step['attempts'][number];

function attemptSpan(
  { outcome, started_at: start, finished_at: end }: Attempt,
  now: number,
): Segment {
  const phase = outcome === null || outcome === 'success' ? 'working' : 'tried';
  return { phase, from: Date.parse(start), to: end === null ? now : Date.parse(end) };
}

/** The failed attempts of a step that has more than one attempt. */
const triedIn = ({ attempts }: Step): Segment[] =>
  attempts.length < 2
    ? []
    : attempts
        .map((attempt) => attemptSpan(attempt, Date.parse(attempt.started_at)))
        .filter(({ phase }) => phase === 'tried');

function barText(bar: Bar): string {
  const figures = figuresOf(bar).map(({ phase, ms }) =>
    text.phase(durationText(ms), phaseNames[phase]),
  );
  if (figures.length > 0) return figures.join(', ');
  return bar.step.status === 'skipped' ? '' : durationText(0);
}
