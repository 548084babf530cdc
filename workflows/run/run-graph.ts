import {
  ApplicationFailure,
  CancellationScope,
  ContinueAsNew,
  isCancellation,
  TemporalFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { FAILURE_RUN, type RunGraphInput } from '#shared/execution.ts';
import { createReplay } from '#shared/graph/schedule/replay.ts';
import {
  hasFields,
  isAmount,
  isListOf,
  isObject,
  isText,
  optional,
  requireInput,
} from '#workflows/received.ts';
import { lookAtChildren } from './children.ts';
import { wholeRun } from './control.ts';
import { collectFailedControl, settleFailures, text } from './failures.ts';
import { applyDecisions, flush, handleSignals, rest } from './gates.ts';
import { createRun, nextEvent, type Run } from './state.ts';
import { carryOn, finish, type RunResult } from './status.ts';
import { launch } from './steps.ts';
import { lookAtWaits } from './waits.ts';

/**
 * One run: asks the scheduler for ready nodes and executes them. The scheduler makes decisions about the graph, and
 * activities write. Temporal only replays this code between them.
 */
export async function runGraph(input: RunGraphInput): Promise<RunResult> {
  requireInput('runGraph', inputFields, input);
  try {
    const run = createRun(input);
    handleSignals(run);
    return await drive(run);
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    const cancelled = isCancellation(error);
    if (cancelled || !isSettledFailure(error)) {
      await CancellationScope.nonCancellable(() =>
        wholeRun.abandonRun({
          run_id: input.run_id,
          kind: cancelled ? 'cancelled' : 'crash',
          error: cancelled ? 'Cancelled in Temporal' : `The run crashed: ${text(error)}`,
        }),
      );
    }
    // A plain Error would make the workflow task fail forever instead of the run.
    if (error instanceof TemporalFailure) throw error;
    throw ApplicationFailure.create({
      message: text(error),
      type: 'WorkflowCrashed',
      nonRetryable: true,
      cause: error instanceof Error ? error : undefined,
    });
  }
}

const inputFields = {
  run_id: isText,
  workspace_id: isText,
  workflow_id: isText,
  steps_task_queue: isText,
  overflow_task_queue: isText,
  limits: hasFields({ steps_in_flight: isAmount, heartbeat_timeout_ms: isAmount }),
  graph: hasFields({ nodes: isListOf(isObject), edges: isListOf(isObject) }),
  input: isObject,
  laid: optional(isObject),
  rehearsal: optional(isObject),
  reuses: optional(isListOf(isText)),
  carried: optional(isObject),
};

const isSettledFailure = (error: unknown): boolean =>
  error instanceof ApplicationFailure && error.type === FAILURE_RUN;

/**
 * Lets the SDK add the commands of cancels. When two results come one after the other, those of the first precede what
 * follows from the second; so they must when a replay delivers both together.
 */
async function cancels(): Promise<void> {
  for (let tick = 0; tick < TICKS; tick += 1) await Promise.resolve();
}

/** The SDK needs one for each scope between the cancel and the timer. */
const TICKS = 5;

async function drive(run: Run): Promise<RunResult> {
  const { input, pace, scheduler, arrived, known, inFlight, failures } = run;
  if (input.from_ledger === true) {
    run.ledger = await wholeRun.loadLedger({ run_id: input.run_id });
    run.failureCount = run.ledger.failures;
    run.handled = run.ledger.handled ?? 0;
    const unhandled = new Set(run.ledger.unhandled);
    run.numbered = new Set(run.ledger.order?.filter((key) => !unhandled.has(key)));
    run.gates.learnLedger(run.ledger);
    if (run.ledger.order !== undefined) run.replay = createReplay(run.ledger.order);
    for (const [stepKey, turn] of Object.entries(run.ledger.turns ?? {})) {
      run.turns.set(stepKey, turn);
    }
    for (const [stepKey, attempt] of Object.entries(run.ledger.children ?? {})) {
      run.children.attempts.set(stepKey, attempt);
    }
  }
  let handle: (() => void) | undefined;
  for (;;) {
    run.woken = false;
    if (run.cancelled !== undefined) throw run.cancelled;
    const pause = pace.pause();
    if (pause !== undefined) await pause;
    handle ??= known.shift();
    handle?.();
    handle = undefined;
    const closing = failures.size > 0 || workflowInfo().continueAsNewSuggested;
    if (!closing) {
      const recorded = launch(run);
      if (recorded !== undefined) await recorded;
    }
    collectFailedControl(run);
    lookAtChildren(run);
    lookAtWaits(run);
    const active = run.children.running > 0;
    const settled = inFlight.size === 0 && !run.woken && known.length === 0;
    if (settled && !(active && failures.size > 0)) {
      if (failures.size > 0) {
        await settleFailures(run);
        continue;
      }
      if (scheduler.done) return finish(run);
      if (applyDecisions(run)) continue;
      if (workflowInfo().continueAsNewSuggested) await carryOn(run);
      if (active ? await flush(run) : await rest(run)) continue;
    } else if (!closing && applyDecisions(run)) {
      continue;
    }
    if (run.woken || known.length > 0) continue;
    if (arrived.length === 0) await nextEvent(run);
    else if (run.cancelledTimer) await cancels();
    run.cancelledTimer = false;
    handle = arrived.shift();
  }
}
