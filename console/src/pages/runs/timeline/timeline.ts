import { repeats } from '#shared/graph/kinds.ts';
import type { Run, Step } from '#client/index.ts';
import { turnKey } from '#shared/agents/turn-record.ts';
import { isNodeStep } from '#console/src/pages/runs/steps/agent-steps.ts';

/** The phase of a step. A loop spans its iterations, whose own steps show the work. */
export type Phase = 'working' | 'retrying' | 'queued' | 'waiting' | 'iterations';

/** The activity of a run at a time: the first of these phases that any step is in, or else `idle`. */
export const wallParts = ['working', 'retrying', 'queued', 'waiting', 'idle'] as const;
type WallPart = (typeof wallParts)[number];

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
  /** The activities of the run, as consecutive periods from `from` to `to`. */
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
  const parts = partsByAgent(run.steps);
  const byKey = new Map(run.steps.map((step) => [step.step_key, step]));
  const turnOf = ({ parent_step_key: agent = '', turn = 0, tool_call: call }: Step) =>
    call && byKey.get(turnKey(agent, turn));
  const spansWithin: SpansWithin = (step, span) => spansOf(step, { ...span, turn: turnOf(step) });
  const bars = run.steps.map((step) => {
    const own = spansWithin(step, { from, to: end });
    return { step, spans: waitingApart(own, parts.get(step.step_key), spansWithin) };
  });
  // The turns and calls of an agent are within its own step.
  const spans = bars.filter(({ step }) => isNodeStep(step)).flatMap((bar) => bar.spans);
  const stretches = stretchesOf(spans, from, end);
  return { from, to: end, bars, stretches, parts: partsOf(stretches) };
}

function partsByAgent(steps: readonly Step[]): Map<string, Step[]> {
  const parts = new Map<string, Step[]>();
  for (const step of steps) {
    const agent = step.parent_step_key;
    if (agent === undefined) continue;
    const known = parts.get(agent);
    if (known === undefined) parts.set(agent, [step]);
    else known.push(step);
  }
  return parts;
}

type SpansWithin = (step: Step, span: { from: number; to: number }) => Span[];

/** The spans of an agent, with the times in which it only waited for the approval of its calls kept apart. */
function waitingApart(
  spans: Span[],
  parts: readonly Step[] | undefined,
  spansWithin: SpansWithin,
): Span[] {
  if (parts === undefined) return spans;
  return spans.flatMap((span) => {
    if (span.phase !== 'working') return [span];
    const { from, to } = span;
    const within = parts.flatMap((part) => spansWithin(part, { from, to }));
    const merged: Span[] = [];
    for (const stretch of stretchesOf(within, from, to)) {
      const phase = stretch.part === 'waiting' ? 'waiting' : 'working';
      const last = merged.at(-1);
      if (last?.phase === phase) last.to = stretch.to;
      else merged.push({ phase, from: stretch.from, to: stretch.to });
    }
    return merged;
  });
}

/** The viewer's clock may be behind the service's clock. */
const lastMoment = (steps: readonly Step[], now: number): number =>
  steps.reduce(
    (latest, { started_at, finished_at }) =>
      Math.max(latest, Date.parse(finished_at ?? started_at)),
    now,
  );

/** `turn` is the turn of a call. */
function spansOf(
  step: Step,
  { from, to, turn }: { from: number; to: number; turn: Step | undefined },
): Span[] {
  if (step.status === 'skipped') return [];
  const started = Date.parse(step.started_at);
  const finished = step.finished_at === null ? to : Date.parse(step.finished_at);
  const waited = waitOf(step, turn);
  const begun = Math.min(Math.max(started, waited?.to ?? started), finished);
  const lastTry = Math.min(begun + (step.retried_ms ?? 0), finished);
  const queued = Math.max(started - (step.queued_ms ?? 0), waited?.to ?? 0);
  const spans: Span[] = [
    ...(waited === undefined ? [] : [waited]),
    { phase: 'queued', from: queued, to: started },
    { phase: 'retrying', from: begun, to: lastTry },
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

/**
 * The wait for the decision about a call. An approved call starts after it, and has waited since the end of its turn; a
 * rejected call only waited.
 */
function waitOf({ kind, decision, started_at }: Step, turn: Step | undefined): Span | undefined {
  if (kind !== 'tool' || decision === undefined) return undefined;
  const asked = Date.parse(turn?.finished_at ?? started_at);
  const from = Math.min(asked, Date.parse(started_at));
  return { phase: 'waiting', from, to: Date.parse(decision.at) };
}

function phaseOf({ kind, status }: Step): Phase {
  // What an agent waits for is in its calls.
  if (kind === 'human_gate' || kind === 'wait') return 'waiting';
  if (status === 'paused' && kind !== 'agent') return 'waiting';
  return repeats({ kind }) ? 'iterations' : 'working';
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
