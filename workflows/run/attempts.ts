import { ApplicationFailure, sleep, workflowInfo } from '@temporalio/workflow';
import { type PendingWrites, FAILURE_BUDGET } from '../../shared/execution.ts';
import type { ReadyNode } from '../../shared/graph/schedule/scheduler.ts';
import type { Json } from '../../shared/json.ts';
import { causeOf } from '../cause.ts';
import { delayStep } from './delay.ts';
import { fail, text } from './failures.ts';
import type { PreparedStep } from './prepare.ts';
import { complete, type Run, handleResult } from './state.ts';
import { executeShortStep, executeStep, moveOf, overflows } from './step-call.ts';

/**
 * Concurrent steps of a run that are costly to compute. The steps of a workspace share the threads, so more would only
 * wait.
 */
const COSTLY_IN_FLIGHT = 2;

/** Further steps of a run go to the overflow queue, so that a wide graph does not have to be refused first. */
const IN_STEPS_QUEUE = 10;

/**
 * A step in the long lane. When its workspace has its share of the steps on a worker, it continues in the overflow
 * queue, as do the run's later steps.
 */
function executeLong(
  run: Run,
  step: ReadyNode,
  prepared: PreparedStep,
  call: PendingWrites,
  options: { costly?: boolean } = {},
): Promise<Json> {
  const execute = (overflow: boolean): Promise<Json> =>
    executeStep(run.input, step, prepared, call, { ...options, overflow });
  // Executions from before that queue also handle their results in as many microtasks as before.
  if (run.input.overflow_task_queue === undefined) return execute(false);
  return execute(run.overflows || run.inFlight.size > IN_STEPS_QUEUE).catch((error: unknown) => {
    if (!overflows(error)) throw error;
    run.overflows = true;
    return execute(true);
  });
}

/** Dispatches a step in the long lane. */
export function startLongStep(
  run: Run,
  step: ReadyNode,
  prepared: PreparedStep,
  call: PendingWrites,
): void {
  const { node, label, params } = prepared;
  if (node.kind === 'tool' && node.tool_name === 'delay') {
    follow(run, step, call, delayStep(run, step, { label, params, call }));
  } else {
    follow(run, step, call, executeLong(run, step, prepared, call));
  }
}

/** Dispatches a step in the short lane. It moves to the long lane when necessary. */
export function startShortStep(
  run: Run,
  step: ReadyNode,
  prepared: PreparedStep,
  call: PendingWrites,
): void {
  run.short.inFlight += 1;
  void executeShortStep(run.input, step, prepared, call).then(
    (result) => {
      handleResult(run, () => {
        run.short.inFlight -= 1;
        run.pace.worked(result);
        succeed(run, step, result.output);
      });
    },
    (error: unknown) => {
      handleResult(run, () => {
        run.short.inFlight -= 1;
        moveOrFail(run, step, prepared, call, error);
      });
    },
  );
}

function moveOrFail(
  run: Run,
  step: ReadyNode,
  prepared: PreparedStep,
  call: PendingWrites,
  error: unknown,
): void {
  const move = moveOf(error);
  if (move === undefined) {
    failStep(run, step, call, error);
    return;
  }
  const { started_ms, ended_ms, delay_ms = 0, costly = false } = move;
  if (started_ms !== undefined && ended_ms !== undefined) run.pace.worked({ started_ms, ended_ms });
  if (costly) {
    run.costly.waiting.push(() => {
      const work = executeLong(run, step, prepared, call, { costly });
      follow(run, step, call, work, () => endCostly(run));
    });
    startCostly(run);
    return;
  }
  const execute = () => executeLong(run, step, prepared, call);
  follow(run, step, call, delay_ms > 0 ? sleep(delay_ms).then(execute) : execute());
}

function startCostly({ costly }: Run): void {
  while (costly.inFlight < COSTLY_IN_FLIGHT && costly.waiting.length > 0) {
    costly.inFlight += 1;
    costly.waiting.shift()?.();
  }
}

function endCostly(run: Run): void {
  run.costly.inFlight -= 1;
  startCostly(run);
}

/** Handles the result of a step in the long lane. */
function follow(
  run: Run,
  step: ReadyNode,
  call: PendingWrites,
  work: Promise<Json>,
  ended: () => void = () => undefined,
): void {
  void work.then(
    (output) => {
      run.pace.arrived();
      handleResult(run, () => {
        ended();
        succeed(run, step, output);
      });
    },
    (error: unknown) => {
      if (run.oneLane) {
        failStep(run, step, call, error);
        return;
      }
      run.pace.arrived();
      handleResult(run, () => {
        ended();
        failStep(run, step, call, error);
      });
    },
  );
}

function succeed(run: Run, step: ReadyNode, output: Json): void {
  run.inFlight.delete(step.step_key);
  // The event that completes the current workflow task: the history up to it holds this result.
  run.observed.push({ step_key: step.step_key, event_id: workflowInfo().historyLength + 1 });
  complete(run, step.step_key, output);
}

function failStep(run: Run, step: ReadyNode, call: PendingWrites, error: unknown): void {
  run.inFlight.delete(step.step_key);
  const cause = causeOf(error);
  // The pending writes of a call that may never have started are sent again; writing them twice is harmless.
  run.scheduler.returnControlSteps(call.control);
  const stopped = cause instanceof ApplicationFailure && cause.type === FAILURE_BUDGET;
  fail(run, step, text(cause), stopped ? 'budget' : 'node', error);
}
