import type { Run, Step } from '../../../../../client/index.ts';

/** The phase of a step. A loop spans its iterations, whose own steps show the work. */
export type Phase = 'working' | 'retrying' | 'queued' | 'waiting' | 'iterations';

/** The activity of a run at a time: the first of these phases that any step is in, or else `idle`. */
export const wallParts = ['working', 'retrying', 'queued', 'waiting', 'idle'] as const;
export type WallPart = (typeof wallParts)[number];

/** A time span, in milliseconds since 1970. */
interface Span {
  phase: Phase;
  from: number;
  to: number;
}

export interface Bar {
  step: Step;
  /** Non-empty spans in time order; no spans for a skipped step. */
  spans: Span[];
}

export interface Timeline {
  /** From the run's creation to its end, or to now. */
  from: number;
  to: number;
  /** One for each step, in the order of the run. */
  bars: Bar[];
  /** The activities of the run, as consecutive stretches from `from` to `to`. */
  stretches: Stretch[];
  /** The wall time by activity. The parts add up to `to - from`, even if steps ran concurrently. */
  parts: Record<WallPart, number>;
}

export interface Stretch {
  part: WallPart;
  from: number;
  to: number;
}

/** The run on one time axis. Unfinished steps end at `now`. */
export function timelineOf(
  run: Pick<Run, 'created_at' | 'finished_at' | 'steps'>,
  now: number,
): Timeline {
  const from = Date.parse(run.created_at);
  const to = run.finished_at === null ? lastMoment(run.steps, now) : Date.parse(run.finished_at);
  const end = Math.max(from, to);
  const bars = run.steps.map((step) => ({ step, spans: spansOf(step, from, end) }));
  const spans = bars.flatMap((bar) => bar.spans);
  const stretches = stretchesOf(spans, from, end);
  return { from, to: end, bars, stretches, parts: partsOf(stretches) };
}

/** The viewer's clock may be behind the service's clock. */
const lastMoment = (steps: readonly Step[], now: number): number =>
  steps.reduce(
    (latest, { started_at, finished_at }) =>
      Math.max(latest, Date.parse(finished_at ?? started_at)),
    now,
  );

function spansOf(step: Step, from: number, to: number): Span[] {
  if (step.status === 'skipped') return [];
  const started = Date.parse(step.started_at);
  const finished = step.finished_at === null ? to : Date.parse(step.finished_at);
  const lastTry = Math.min(started + (step.retried_ms ?? 0), finished);
  const spans: Span[] = [
    { phase: 'queued', from: started - (step.queued_ms ?? 0), to: started },
    { phase: 'retrying', from: started, to: lastTry },
    { phase: phaseOf(step), from: lastTry, to: finished },
  ];
  return spans
    .map(({ phase, ...span }) => ({
      phase,
      from: Math.max(span.from, from),
      to: Math.min(span.to, to),
    }))
    .filter((span) => span.to > span.from);
}

function phaseOf({ kind }: Step): Phase {
  if (kind === 'human_gate') return 'waiting';
  return kind === 'loop' ? 'iterations' : 'working';
}

/** Sweeps over the starts and ends of all spans in time order; each interval between them has one activity. */
function stretchesOf(spans: readonly Span[], from: number, to: number): Stretch[] {
  const edges = spans
    .flatMap(({ phase, ...span }) => [
      { phase, at: span.from, change: 1 },
      { phase, at: span.to, change: -1 },
    ])
    .sort((a, b) => a.at - b.at);
  const open: Record<Phase, number> = {
    working: 0,
    retrying: 0,
    queued: 0,
    waiting: 0,
    iterations: 0,
  };
  const stretches: Stretch[] = [];
  const now = (): WallPart => wallParts.find((part) => part !== 'idle' && open[part] > 0) ?? 'idle';
  let reached = from;
  const add = (part: WallPart, until: number): void => {
    const last = stretches.at(-1);
    if (until > reached) {
      if (last?.part === part) last.to = until;
      else stretches.push({ part, from: reached, to: until });
    }
    reached = Math.max(reached, until);
  };
  for (const { phase, at, change } of edges) {
    add(now(), at);
    open[phase] += change;
  }
  add('idle', to);
  return stretches;
}

function partsOf(stretches: readonly Stretch[]): Timeline['parts'] {
  const parts = { working: 0, retrying: 0, queued: 0, waiting: 0, idle: 0 };
  for (const { part, from, to } of stretches) parts[part] += to - from;
  return parts;
}

/** The duration of each phase of a step. */
export function figuresOf(bar: Bar): { phase: Phase; ms: number }[] {
  return bar.spans.map(({ phase, from, to }) => ({ phase, ms: to - from }));
}
