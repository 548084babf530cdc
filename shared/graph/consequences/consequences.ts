import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { CompiledGraph } from '#shared/graph/compile.ts';
import { type Layout, layoutOf } from '#shared/graph/dry-run/layout.ts';
import type { GateAnswer } from '#shared/graph/gates/gate-decision.ts';
import {
  createScheduler,
  laidAt,
  placeOf,
  SchedulerError,
} from '#shared/graph/schedule/scheduler.ts';
import { iterationIn, nodeIdOf } from '#shared/graph/schedule/step-key.ts';
import { iterationOf, type RunState, stepKeyOf } from '#shared/graph/schedule/run-state.ts';
import { isStopped } from '#shared/graph/schedule/settle.ts';
import {
  restoreRunState,
  type SchedulerSnapshot,
  type Situation,
} from '#shared/graph/schedule/snapshot.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Effect, effectsAt, isEffect } from './effects.ts';
import { type KnownFacts, type Walked, walkRest } from './walked.ts';

/** What an answer sets in motion. */
export interface Consequences {
  /** Up to the next decisions. */
  effects: Effect[];
  /** The number of effects that can follow after another decision, or after the map around the gate. */
  more: number;
  /** The ids of the gates, and of the steps that ask, that are reached next. */
  next_gates: string[];
}

/**
 * The answer to a gate; `failed`: its deadline or a rejection fails it. `error`: what it fails with, if no edge is for
 * that. `continues`: the answer after which an agent or a step continues.
 */
export type Answer =
  | ((Pick<GateAnswer, 'approved' | 'input'> | { failed: true }) & { error: CaughtError })
  | { continues: true };

export interface Asked {
  graph: CompiledGraph;
  /** The run around the gate, while it is open. */
  situation: Situation;
  /** What the run, as a fork, merges into the state at steps. */
  laid: Record<string, JsonObject>;
  /** The gate, or the agent. */
  stepKey: string;
  facts: KnownFacts;
}

export const NOTHING: Consequences = { effects: [], more: 0, next_gates: [] };

/**
 * What an answer to an open gate sets in motion. It is given to a copy of the run, as the scheduler handles it, and the
 * walk of the dry run continues through what is left.
 */
export function consequencesOf(
  { graph, situation, laid, stepKey, facts }: Asked,
  answer: Answer,
): Consequences {
  const { snapshot, large, asking } = situation;
  const answered = answeredRun({ graph, snapshot, laid }, { stepKey, answer });
  if (answered === undefined) return NOTHING;
  const before = placeOf(restoreRunState(graph, snapshot), stepKey);
  const whole = layoutOf(graph);
  const gate = before.node;
  const loops = whole.around[gate]!.filter((head) => whole.nodes[head]!.kind === 'loop');
  const more = countOutside(whole, gate, loops);
  const run = scopeIn(answered.run, stepKey);
  if (run === undefined || isStopped(run)) return { ...NOTHING, more };
  const caught = answered.caught ? [nodeIdOf(stepKey)] : [];
  const hidden = new Set([...large, ...caught, ...keysAhead(answered.run, run, { whole, laid })]);
  const others = new Set(asking.filter((key) => key !== stepKey));
  const place = { run, whole, hidden, asking: others };
  // In the next iteration of a loop, a step has not begun.
  const isSame = (node: number): boolean => stepKeyOf(before.run, node) === stepKeyOf(run, node);
  const walked = walkRest(facts, place, (node) => hasBegun(before.run, node) && isSame(node));
  if (walked === undefined) return { ...NOTHING, more };
  const isNext = (loop: number): boolean =>
    run.loops.get(loop)?.round !== before.run.loops.get(loop)?.round;
  return listed(walked, more, (at) => {
    const { node, open, later } = walked.rest.places[at]!;
    if (open) return false;
    const next = loops.filter((loop) => loop === later || isNext(loop));
    return (
      whole.follows.has(gate, node) ||
      next.some((loop) => loop === node || whole.inside.has(node, loop))
    );
  });
}

/** The run after the answer, and whether that is an error with an edge for it; undefined when the run fails. */
function answeredRun(
  { graph, snapshot, laid }: Pick<Asked, 'graph' | 'laid'> & { snapshot: SchedulerSnapshot },
  { stepKey, answer }: { stepKey: string; answer: Answer },
): { run: RunState; caught: boolean } | undefined {
  const scheduler = createScheduler(graph, {}, snapshot, { arrivals: laidAt(laid) });
  let caught = false;
  if (!('continues' in answer)) {
    if ('failed' in answer) scheduler.fail(stepKey);
    caught = 'failed' in answer || scheduler.decide(stepKey, answer) === 'rejected';
    if (caught && !scheduler.catchFailure(stepKey, answer.error)) return undefined;
  }
  return { run: restoreRunState(graph, scheduler.snapshot()), caught };
}

const hasBegun = ({ phases }: RunState, node: number): boolean =>
  ['ready', 'taken', 'running', 'failed'].includes(phases[node]!);

/** The keys that are merged into the state at steps that are not reached yet, or only within an item of a map. */
const keysAhead = (
  run: RunState,
  seen: RunState,
  { whole, laid }: Pick<Asked, 'laid'> & { whole: Layout },
): string[] =>
  Object.entries(laid).flatMap(([key, values]) => {
    const scope = scopeIn(run, key);
    return scope === undefined ||
      isAhead(scope, whole, placeOf(run, key).node, key) ||
      !isAround(scope, seen)
      ? Object.keys(values)
      : [];
  });

/** Whether a step is not reached yet. */
function isAhead(scope: RunState, whole: Layout, node: number, stepKey: string): boolean {
  const now = iterationOf(scope, node);
  const iteration = iterationIn(stepKey);
  const differs = iteration.findIndex((round, depth) => round !== now[depth]);
  if (differs === -1) return scope.phases[node] === 'waiting';
  if (differs < now.length) return iteration[differs]! > now[differs]!;
  // The loop around it is not in progress.
  const loop = whole.around[node]!.at(-1 - differs)!;
  return !['settled', 'skipped'].includes(scope.phases[loop]!);
}

/** Whether the state of a scope is that of another one, or around it. */
const isAround = (scope: RunState, other: RunState): boolean =>
  scope === other || (other.item !== undefined && isAround(scope, other.item.parent));

/** The scope of a step; undefined when the item that contains it has ended. */
function scopeIn(run: RunState, stepKey: string): RunState | undefined {
  try {
    return placeOf(run, stepKey).run;
  } catch (error) {
    if (error instanceof SchedulerError) return undefined;
    throw error;
  }
}

/** The number of effects that can follow after the maps around a gate. */
function countOutside(whole: Layout, gate: number, loops: readonly number[]): number {
  const maps = whole.around[gate]!.filter((head) => whole.nodes[head]!.kind === 'map');
  const isOutside = (at: number): boolean => maps.some((map) => !whole.inside.has(at, map));
  const follows = (at: number): boolean =>
    whole.follows.has(gate, at) || loops.some((loop) => whole.inside.has(at, loop));
  return whole.nodes.filter((node, at) => isEffect(node) && isOutside(at) && follows(at)).length;
}

/** `isCaused`: whether the answer leads to a node of the rest. */
function listed(walked: Walked, outside: number, isCaused: (at: number) => boolean): Consequences {
  const { layout, free, all } = walked;
  const places = layout.nodes.map((_, at) => at).filter(isCaused);
  const isFree = (at: number): boolean => free.executions[at]!.max !== 0;
  const asks = (at: number): boolean => free.examined[at]?.waits === 'always';
  const effects = places.filter((at) => isEffect(layout.nodes[at]!));
  const happens = (at: number): boolean => isFree(at) && !asks(at);
  const gates = places.filter((at) => isFree(at) && asks(at));
  return {
    effects: effects.filter(happens).flatMap((at) => effectsAt(walked, at)),
    more: outside + effects.filter((at) => !happens(at) && all.executions[at]!.max !== 0).length,
    next_gates: [...new Set(gates.map((at) => layout.nodes[at]!.id))],
  };
}
