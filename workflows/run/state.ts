import { CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type { FailedStep, LedgerState, RunGraphInput } from '#shared/execution.ts';
import type { PendingWrites, ObservedStep } from '#shared/graph/call-parts.ts';
import { type CompiledGraph, compileGraph } from '#shared/graph/compile.ts';
import {
  type ControlStep,
  createScheduler,
  laidAt,
  type ReadyNode,
  type Scheduler,
} from '#shared/graph/schedule/scheduler.ts';
import type { Replay } from '#shared/graph/schedule/replay.ts';
import type { JsonText } from '#shared/values/json-text.ts';
import type { Json } from '#shared/json.ts';
import type { AgentWork, RunningAgent } from './running-agent.ts';
import { type Children, createChildren } from './open-children.ts';
import { createOpenGates, type OpenGates } from './open-gates.ts';
import { createPace, type Pace } from './pace.ts';
import type { GateOpening } from '#shared/graph/gates/gate-opening.ts';
import type { Waiting } from './open-waits.ts';
import type { QueuedCalls } from './work.ts';

/**
 * Timers for the deadlines and reminders of open gates. A timer only says when to check: the gate's row decides, by the
 * clock of the database, so a timer of an earlier opening changes nothing.
 */
export interface GateClock {
  opening: GateOpening;
  /** Whether to check again if this check finds the gate closed, because it may have opened in the meantime. */
  again: boolean;
  /** Ends the timer. */
  timer: CancellationScope | undefined;
}

/** An execution's state of its run. The functions in this folder receive and change it. */
export interface Run {
  readonly input: RunGraphInput;
  readonly graph: CompiledGraph;
  readonly scheduler: Scheduler;
  readonly pace: Pace;
  readonly gates: OpenGates;
  /** The clocks of open gates that have a timeout or reminders, by step key. */
  readonly clocks: Map<string, GateClock>;
  /** Whether its graph has maps. */
  readonly maps: boolean;
  /** The keys of the state that the texts of its nodes read; undefined until it pauses. */
  keysRead: ReadonlySet<string> | undefined;
  /** Keys of the steps in flight. */
  readonly inFlight: Set<string>;
  /** Short steps: the number in flight, and those that wait for a slot. */
  readonly short: { inFlight: number; held: ReadyNode[] };
  /** Agents with tools that have started, by step key, and their turns and calls that wait to be dispatched. */
  readonly agents: Map<string, RunningAgent>;
  readonly agentWork: AgentWork[];
  /** The turns at which agents with tools continue, from an earlier execution. */
  readonly turns: Map<string, number>;
  readonly children: Children;
  /** Steps that wait for a time, an event or a callback, by step key, and those whose row must be read. */
  readonly waits: { open: Map<string, Waiting>; stale: Set<string> };
  /** Steps that wait for a free call of their tool or model. What is stale in `waits` can also be one of them. */
  readonly queued: QueuedCalls;
  /** Costly steps: the number in flight, and callbacks that start the waiting ones. */
  readonly costly: { inFlight: number; waiting: (() => void)[] };
  /** Whether its steps use the overflow queue, because one of them found no room in the other queue. */
  overflows: boolean;
  /**
   * Results of steps that are not handled yet. They are handled one by one, each when nothing follows any more from what
   * came before, neither in the next iterations nor after a call that the loop awaits: a replay delivers several local
   * activities together that ended one after another, and must produce the same commands.
   */
  readonly arrived: (() => void)[];
  /** Ready steps that have a result in the ledger. Undefined once others have begun, except in a rehearsal. */
  replay: Replay | undefined;
  /**
   * Results that are already in the ledger. They are consequences of the previous result, so they are handled before
   * new arrivals.
   */
  readonly known: (() => void)[];
  readonly failures: Map<string, { step: FailedStep; cause?: unknown }>;
  /** The event ids and numbers of results, for the next call. */
  observed: ObservedStep[];
  /** The number of results that have entered the state. */
  handled: number;
  ledger: LedgerState | undefined;
  /** The steps in the ledger whose results have a number. */
  numbered: ReadonlySet<string>;
  failureCount: number;
  atRest: boolean;
  /** The handling of a result has cancelled a timer. The SDK adds that command a moment later. */
  cancelledTimer: boolean;
  shownStatus: string;
  finished: number;
  cancelled: Error | undefined;
  /** Something happened since the last iteration of the loop. */
  woken: boolean;
  resolveWake: (() => void) | undefined;
}

export function createRun(input: RunGraphInput): Run {
  const { carried } = input;
  const maps = input.graph.nodes.some(({ kind }) => kind === 'map');
  const graph = compileGraph(input.graph);
  const scheduler = createScheduler(graph, input.input, carried?.scheduler, {
    ...(input.laid === undefined ? {} : { arrivals: laidAt(input.laid) }),
  });
  const run: Run = {
    input,
    graph,
    scheduler,
    pace: createPace(() => scheduler.workDone),
    gates: createOpenGates(carried),
    clocks: new Map(),
    maps,
    inFlight: new Set(),
    short: { inFlight: 0, held: [] },
    agents: new Map(),
    agentWork: [],
    turns: new Map(Object.entries(carried?.turns ?? {})),
    children: createChildren(carried?.children),
    waits: { open: new Map(), stale: new Set() },
    queued: { open: new Map(), early: new Set() },
    costly: { inFlight: 0, waiting: [] },
    overflows: false,
    arrived: [],
    replay: undefined,
    keysRead: undefined,
    known: [],
    failures: new Map(),
    observed: carried?.observed ?? [],
    handled: carried?.handled ?? 0,
    ledger: undefined,
    numbered: new Set(),
    failureCount: carried?.failures ?? 0,
    atRest: false,
    cancelledTimer: false,
    shownStatus: 'running',
    finished: 0,
    cancelled: undefined,
    woken: false,
    resolveWake: undefined,
  };
  // A plain promise instead of `condition`, because the loop iterates with every event, and the SDK keeps a stack trace
  // for each promise created in workflow code.
  CancellationScope.current().cancelRequested.catch((error: unknown) => {
    run.cancelled = error instanceof Error ? error : new CancelledFailure('Cancelled');
    wake(run);
  });
  return run;
}

export function wake(run: Run): void {
  run.woken = true;
  continueLoop(run);
}

function continueLoop(run: Run): void {
  run.resolveWake?.();
  run.resolveWake = undefined;
}

/** Waits until an event wakes the run. */
export const nextEvent = (run: Run): Promise<void> =>
  new Promise((resolve) => {
    run.resolveWake = resolve;
  });

/** The writes for the next call: control steps, by default all waiting ones, and observed results. */
export function pendingWrites(
  run: Run,
  steps: ControlStep[] = run.scheduler.takeControlSteps(),
): PendingWrites {
  const { observed } = run;
  run.observed = [];
  return { run_id: run.input.run_id, control: steps, observed };
}

/**
 * Computes the consequences of a result in its turn. It does not count as woken, because the loop can await a local
 * activity that ended before this one or after it.
 */
export function handleResult(run: Run, arrival: () => void): void {
  run.arrived.push(arrival);
  continueLoop(run);
}

/** Like `handleResult`, for a result that is already in the ledger. */
export function handleKnown(run: Run, arrival: () => void): void {
  run.known.push(arrival);
  wake(run);
}

/**
 * Numbers a result that enters the state. Results can be stored in another order, in which an error would stop other
 * steps.
 */
export function noteHandled(run: Run, stepKey: string): void {
  run.handled += 1;
  const nth = run.handled;
  const last = run.observed.at(-1);
  if (last?.step_key === stepKey && last.nth === undefined) last.nth = nth;
  else run.observed.push({ step_key: stepKey, nth });
}

/** For a result in the ledger, which can have a number from an earlier execution. */
export function noteKnown(run: Run, stepKey: string): void {
  if (!run.numbered.has(stepKey)) noteHandled(run, stepKey);
}

export function complete(run: Run, stepKey: string, output: Json | JsonText): void {
  noteHandled(run, stepKey);
  completeKnown(run, stepKey, output);
}

/** Like `complete`, without a number for the result. */
export function completeKnown(run: Run, stepKey: string, output: Json | JsonText): void {
  run.finished += 1;
  run.scheduler.complete(stepKey, output);
  wake(run);
}
