import type { GateNode, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { CompiledGraph } from '#shared/graph/compile.ts';
import {
  createScheduler,
  type ReadyNode,
  type Scheduler,
  type SchedulerSnapshot,
} from '#shared/graph/schedule/scheduler.ts';
import { JsonText } from '#shared/values/json-text.ts';
import { createReplay, type Replay } from '#shared/graph/schedule/replay.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { resultOf } from '#test/graph/drawing.ts';
import { failedRounds, gateError, hash, workError, type GateEnd, type World } from './world.ts';

/** What a run did. */
export interface Observed {
  failed: boolean;
  steps: Map<string, string>;
  /** Rounds of attempts or questions by step. */
  rounds: Map<string, number>;
  /** Steps in the order they were settled, without those before the last restart from the ledger. */
  ended: string[];
  state: JsonObject;
  output: JsonObject;
  restarts: Record<Restart, number>;
  /** How the engine answered the steps that have ended. */
  ledger: ReadonlyMap<string, Ended>;
}

/** `snapshot`: the run continues as new; `ledger`: only finished steps and decisions are known. */
type Restart = 'snapshot' | 'ledger';

/** How the engine answered a step: an output, a caught error, or a decision. */
export type Ended = { output: Json } | { caught: CaughtError } | { decided: GateEnd };

/** Called as a run proceeds. */
export interface Watch {
  /** Before a decision is applied. */
  decides: (stepKey: string, node: GateNode, end: GateEnd, scheduler: Scheduler) => void;
  /** Whether a step asks for its own approval before it is executed. */
  asks?: (node: GraphNode, state: JsonObject) => boolean;
  /** Before the decision about such a step is applied. */
  answers?: (stepKey: string, approved: boolean, scheduler: Scheduler) => void;
  /** When a step is executed, with the state that it saw when it began. */
  executes: (stepKey: string, node: GraphNode, state: JsonObject) => void;
}

interface Shell {
  watch: Watch | undefined;
  compiled: CompiledGraph;
  input: JsonObject;
  world: World;
  scheduler: Scheduler;
  /** Steps in flight, with the state that they saw when they began. */
  inFlight: { step: ReadyNode; state: JsonObject }[];
  /** Steps that have failed the run. */
  failures: Set<string>;
  /** Items of maps that were stopped by a failure: a map, and the iteration of the item. */
  stopped: Set<string>;
  /** Steps that have begun. */
  begun: Set<string>;
  /** Everything that has ended, and what of it this execution has not seen yet. */
  ledger: Map<string, Ended>;
  unseen: Set<string>;
  observed: Observed;
  /** Steps with a result, before others. Undefined once others have begun, except in a rehearsal. */
  replay: Replay | undefined;
  /** In a rehearsal, the steps that failed in the rehearsed run. */
  failed: ReadonlySet<string> | undefined;
  /** The steps that waited for a decision of their own, and those that were approved. */
  asked: Set<string>;
  approved: Set<string>;
}

/** How often a run is restarted from a snapshot: at one of so many turns. */
const TURNS_PER_SNAPSHOT = 6;
const MAX_TURNS = 20_000;

/**
 * Runs a graph on the scheduler as the workflow does, with `picks` as the source of chance: how many steps begin, which
 * ends next, when the run continues as new, and how it resumes. With `resumes` false it ends with its first failures.
 * The ledger has the `known` results as the run starts. `failed`: in a rehearsal, the steps that failed in the other run.
 */
export function runInShell(
  compiled: CompiledGraph,
  input: JsonObject,
  world: World,
  {
    picks,
    resumes = true,
    known = new Map(),
    failed,
    watch,
  }: {
    picks: readonly number[];
    resumes?: boolean;
    known?: ReadonlyMap<string, Ended>;
    failed?: readonly string[];
    watch?: Watch;
  },
): Observed {
  const ledger = new Map(known);
  const shell: Shell = {
    ...{ watch, compiled, input, world, scheduler: createScheduler(compiled, input) },
    replay: replayOf(known),
    failed: failed && new Set(failed),
    ...{
      inFlight: [],
      failures: new Set(),
      stopped: new Set(),
      begun: new Set(),
      asked: new Set(),
      approved: new Set(),
      ledger,
      unseen: new Set(known.keys()),
    },
    observed: {
      ...{ failed: false, steps: new Map(), rounds: new Map(), ended: [], state: {}, output: {} },
      ...{ restarts: { snapshot: 0, ledger: 0 }, ledger },
    },
  };
  let turn = 0;
  const pick = (below: number): number => {
    turn += 1;
    // Another number at the next time around.
    return (picks[turn % picks.length]! + Math.floor(turn / picks.length)) % below;
  };
  const { inFlight, failures, observed } = shell;
  for (let event = 0; event < MAX_TURNS; event += 1) {
    if (pick(TURNS_PER_SNAPSHOT) === 0) restore(shell);
    if (failures.size === 0) take(shell, pick(4));
    observe(shell);
    if (inFlight.length > 0) {
      const [next] = inFlight.splice(pick(inFlight.length), 1);
      end(shell, next!);
    } else if (failures.size > 0) {
      if (!resumes) {
        observed.failed = true;
        break;
      }
      resume(shell, pick(3));
    } else if (!take(shell, Infinity)) break;
  }
  observe(shell);
  if (!observed.failed && !shell.scheduler.done) throw new Error('the run does not end');
  return Object.assign(observed, resultOf(shell.scheduler));
}

const replayOf = (ledger: ReadonlyMap<string, Ended>): Replay => createReplay([...ledger.keys()]);

function takeReady(shell: Shell, limit: number): ReadyNode[] {
  const { scheduler, inFlight, replay, begun, failed } = shell;
  if (replay === undefined || limit === 0) return scheduler.takeReady(limit);
  const open = (keys: { has: (key: string) => boolean }): boolean =>
    inFlight.some(({ step }) => keys.has(step.step_key));
  if (open(replay)) return [];
  const added = scheduler.takeReady(Infinity, (key) => replay.has(key));
  for (const { step_key: key } of added) begun.add(key);
  replay.add(added);
  const next = replay.next();
  if (next !== undefined) return [next];
  if (failed === undefined) {
    shell.replay = undefined;
    return scheduler.takeReady(limit);
  }
  const again = scheduler.takeReady(limit, (key) => failed.has(key));
  if (again.length > 0 || open(failed)) return again;
  return scheduler.takeReady(limit);
}

/** Begins ready steps. Returns whether anything can continue. */
function take(shell: Shell, limit: number): boolean {
  const { scheduler, inFlight, stopped, begun, compiled } = shell;
  const ready = takeReady(shell, limit);
  for (const step of ready) {
    const { step_key: key } = step;
    // After a snapshot, steps in flight begin again.
    if (!begun.has(key) && itemsAround(compiled, key).some((item) => stopped.has(item))) {
      throw new Error(`step ${key} began after its item was stopped`);
    }
    begun.add(key);
    const state = structuredClone({ ...scheduler.state(key) });
    inFlight.push({ step, state });
  }
  return ready.length > 0 || scheduler.held;
}

function observe({ scheduler, observed, unseen }: Shell): void {
  for (const { step_key: key, status } of scheduler.takeControlSteps()) {
    if (status === 'running') continue;
    if (observed.steps.has(key) && observed.restarts.ledger === 0) {
      throw new Error(`step ${key} ended twice`);
    }
    settle(observed, key, status);
    unseen.delete(key);
  }
}

function settle(observed: Observed, stepKey: string, status: string): void {
  observed.steps.set(stepKey, status);
  observed.ended.push(stepKey);
}

function restore(shell: Shell): void {
  const text = JSON.stringify([shell.compiled, shell.scheduler.snapshot()]);
  const [graph, snapshot] = JSON.parse(text) as [CompiledGraph, SchedulerSnapshot];
  shell.scheduler = createScheduler(graph, {}, snapshot);
  // It returns the steps in flight again.
  shell.inFlight.length = 0;
  if (shell.replay !== undefined) shell.replay = replayOf(shell.ledger);
  shell.observed.restarts.snapshot += 1;
}

function resume(shell: Shell, how: number): void {
  if (how === 0) {
    shell.scheduler = createScheduler(shell.compiled, shell.input);
    shell.replay = replayOf(shell.ledger);
    shell.unseen = new Set(shell.ledger.keys());
    shell.observed.ended.length = 0;
    shell.stopped.clear();
    shell.begun.clear();
    shell.observed.restarts.ledger += 1;
  } else {
    if (how === 1) restore(shell);
    for (const stepKey of shell.failures) shell.scheduler.retry(stepKey);
  }
  shell.failures.clear();
}

/** A step in flight ends. */
function end(shell: Shell, { step, state }: Shell['inFlight'][number]): void {
  const { step_key: key } = step;
  const known = shell.ledger.get(key);
  if (known !== undefined) {
    if (!shell.unseen.delete(key)) throw new Error(`step ${key} has ended, and began again`);
    apply(shell, key, known);
    return;
  }
  const { world, observed } = shell;
  const node = shell.scheduler.node(key);
  const round = (observed.rounds.get(key) ?? 0) + 1;
  observed.rounds.set(key, round);
  if (node.kind === 'human_gate') {
    const decided = world.gate(node, key, round);
    shell.watch?.decides(key, node, decided, shell.scheduler);
    apply(shell, key, { decided });
    return;
  }
  const asks = shell.asked.has(key) || shell.watch?.asks?.(node, state) === true;
  if (asks && !shell.approved.has(key)) {
    shell.asked.add(key);
    const approved = round > 1 || hash(`${key} is approved`) % 3 !== 0;
    shell.watch?.answers?.(key, approved, shell.scheduler);
    if (approved) {
      shell.approved.add(key);
      shell.inFlight.push({ step, state });
    } else fail(shell, key, { message: '*', kind: 'rejected', attempts: round });
    return;
  }
  shell.watch?.executes(key, node, state);
  if (round <= failedRounds(world, node, key, state)) {
    fail(shell, key, workError(node));
  } else {
    apply(shell, key, { output: world.result(node, key, state) });
  }
}

function apply(shell: Shell, stepKey: string, ended: Ended): void {
  const { scheduler, observed } = shell;
  if ('caught' in ended) {
    fail(shell, stepKey, ended.caught);
    return;
  }
  if ('decided' in ended) {
    const node = scheduler.node(stepKey) as GateNode;
    const { decided } = ended;
    if ('failed' in decided || scheduler.decide(stepKey, decided) === 'rejected') {
      fail(shell, stepKey, gateError(node, decided), 'failed' in decided);
      return;
    }
  } else {
    // As a run that continues from its ledger has them.
    const { output } = ended;
    const text = () => new JsonText(JSON.stringify(output), stepKey);
    scheduler.complete(stepKey, shell.ledger.has(stepKey) ? text() : output);
  }
  shell.ledger.set(stepKey, ended);
  settle(observed, stepKey, 'success');
}

/** The items of maps that a step belongs to, outermost first. */
function itemsAround({ nodes, regions }: CompiledGraph, stepKey: string): string[] {
  const [id, iteration = ''] = stepKey.split('#');
  const numbers = iteration.split('.');
  const around: number[] = [];
  const start = nodes.findIndex((node) => node.id === id);
  for (let at = regions[start]!; at !== -1; at = regions[at]!) around.unshift(at);
  return around.flatMap((at, depth) =>
    nodes[at]!.kind === 'map' ? [`${nodes[at]!.id}#${numbers.slice(0, depth + 1).join('.')}`] : [],
  );
}

/** `isOpen` false: the scheduler already knows that the step has failed. */
function fail(shell: Shell, stepKey: string, error: CaughtError, isOpen = true): void {
  const { scheduler, failures, ledger, observed } = shell;
  if (isOpen) scheduler.fail(stepKey);
  if (scheduler.catchFailure(stepKey, error)) {
    ledger.set(stepKey, { caught: error });
    const { nodes, edges } = shell.compiled;
    const takesEdge = edges.some(
      ({ from, when }) => when === 'error' && nodes[from]!.id === stepKey.split('#')[0],
    );
    const item = itemsAround(shell.compiled, stepKey).at(-1);
    if (!takesEdge && item !== undefined) shell.stopped.add(item);
  } else {
    failures.add(stepKey);
    observed.steps.set(stepKey, 'failed');
  }
}
