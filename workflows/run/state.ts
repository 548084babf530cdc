import { CancellationScope, CancelledFailure } from '@temporalio/workflow';
import type {
  PendingWrites,
  FailedStep,
  LedgerState,
  ObservedStep,
  RunGraphInput,
} from '../../shared/execution.ts';
import { compileGraph } from '../../shared/graph/compile.ts';
import {
  type ControlStep,
  createScheduler,
  type ReadyNode,
  type Scheduler,
} from '../../shared/graph/schedule/scheduler.ts';
import type { Json } from '../../shared/json.ts';
import { createOpenGates, type OpenGates } from './open-gates.ts';
import { createPace, type Pace, unhurried } from './pace.ts';

/** The engine version since which texts count as work and a run pauses when it has done much. */
const PACED_SINCE = 2;
/** The engine version since which short steps are local activities. */
const LANES_SINCE = 3;

/** What an execution holds of its run. The functions of this folder are given it, and change it. */
export interface Run {
  readonly input: RunGraphInput;
  readonly scheduler: Scheduler;
  readonly pace: Pace;
  readonly gates: OpenGates;
  /** The engine version before there was a pace. */
  readonly earlier: boolean;
  /** An engine version before there were short steps. */
  readonly oneLane: boolean;
  /** Keys of the steps in flight. */
  readonly inFlight: Set<string>;
  /** Short steps: how many are in flight, and those that were given out and wait for others to end. */
  readonly short: { inFlight: number; held: ReadyNode[] };
  /** Costly steps: how many are in flight, and what begins those that wait for others to end. */
  readonly costly: { inFlight: number; waiting: (() => void)[] };
  /**
   * What came of steps and is yet to be taken in. One by one, each with all that follows from it: a replay is told of
   * several local activities at once that ended one after the other, and has to give the same commands.
   */
  readonly arrived: (() => void)[];
  readonly failures: Map<string, { step: FailedStep; cause?: unknown }>;
  /** At which events results arrived, for the next call to take along. */
  observed: ObservedStep[];
  ledger: LedgerState | undefined;
  failureCount: number;
  atRest: boolean;
  shownStatus: string;
  finished: number;
  cancelled: Error | undefined;
  /** Something happened since the loop last looked. */
  woken: boolean;
  resolveWake: (() => void) | undefined;
}

export function createRun(input: RunGraphInput): Run {
  const { carried } = input;
  const earlier = input.engine_version < PACED_SINCE;
  const oneLane = input.engine_version < LANES_SINCE;
  const scheduler = createScheduler(compileGraph(input.graph), input.input, carried?.scheduler, {
    earlier,
  });
  const failsOnReject = (nodeId: string): boolean =>
    !input.graph.edges.some((edge) => edge.source === nodeId && edge.condition_value === 'false');
  const run: Run = {
    input,
    scheduler,
    pace: earlier ? unhurried : createPace(() => scheduler.workDone, { byLength: oneLane }),
    gates: createOpenGates(failsOnReject, carried),
    earlier,
    oneLane,
    inFlight: new Set(),
    short: { inFlight: 0, held: [] },
    costly: { inFlight: 0, waiting: [] },
    arrived: [],
    failures: new Map(),
    observed: carried?.observed ?? [],
    ledger: undefined,
    failureCount: carried?.failures ?? 0,
    atRest: false,
    shownStatus: 'running',
    finished: 0,
    cancelled: undefined,
    woken: false,
    resolveWake: undefined,
  };
  // A promise of our own instead of `condition`: the loop turns with every event, and the SDK keeps a stack trace
  // of each promise made in workflow code.
  CancellationScope.current().cancelRequested.catch((error: unknown) => {
    run.cancelled = error instanceof Error ? error : new CancelledFailure('Cancelled');
    wake(run);
  });
  return run;
}

export function wake(run: Run): void {
  run.woken = true;
  run.resolveWake?.();
  run.resolveWake = undefined;
}

/** Waits until something wakes the run. */
export const nextEvent = (run: Run): Promise<void> =>
  new Promise((resolve) => {
    run.resolveWake = resolve;
  });

/** What the next call takes along: control steps, by default all that wait, and what was observed. */
export function pendingWrites(
  run: Run,
  steps: ControlStep[] = run.scheduler.takeControlSteps(),
): PendingWrites {
  const { observed } = run;
  run.observed = [];
  return { run_id: run.input.run_id, control: steps, observed };
}

/** What a finished step leads to is computed at once, or where a pace is kept, as soon as there is time for it. */
export function takeIn(run: Run, arrival: () => void): void {
  if (run.earlier) {
    arrival();
    return;
  }
  run.arrived.push(arrival);
  wake(run);
}

export function complete(run: Run, stepKey: string, output: Json): void {
  run.finished += 1;
  run.scheduler.complete(stepKey, output);
  wake(run);
}
