import { sleep, workflowInfo } from '@temporalio/workflow';
import type { PendingWrites } from '#shared/graph/call-parts.ts';
import type { ExecutedNode } from '#shared/graph/kinds.ts';
import { laneOf } from '#shared/graph/lanes.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { Json } from '#shared/json.ts';
import { isTimer } from '#shared/tools.ts';
import { causeOf } from '#workflows/cause.ts';
import { askFor, askingOf, permissionOf } from './approvals.ts';
import { fail, reasonOf, text } from './failures.ts';
import type { PreparedStep } from '#shared/graph/prepare/step.ts';
import { queueCall, takeQueued } from './queued-calls.ts';
import type { Work } from './work.ts';
import { complete, type Run, handleResult } from './state.ts';
import { executeShortStep, executeStep, moveOf, overflows } from './step-call.ts';

/**
 * The maximum number of concurrent steps of a run that are costly to compute. A workspace's steps share the threads, so
 * more would only wait.
 */
const COSTLY_IN_FLIGHT = 2;

/**
 * Further steps of a run go directly to the overflow queue, so that those of a wide graph need not be refused first.
 */
const IN_STEPS_QUEUE = 10;

/**
 * Executes a step in the long lane. When its workspace has its share of a worker's steps, it continues in the overflow
 * queue, like the run's later steps.
 */
function executeLong(
  run: Run,
  { step, prepared, call }: Work,
  options: { costly?: boolean } = {},
): Promise<Json> {
  const execute = (overflow: boolean): Promise<Json> =>
    executeStep(run.input, step, prepared, call, { ...options, overflow });
  return execute(run.overflows || run.inFlight.size > IN_STEPS_QUEUE).catch((error: unknown) => {
    if (!overflows(error)) throw error;
    run.overflows = true;
    return execute(true);
  });
}

/** The work of a node. */
export const nodeWork = (
  run: Run,
  step: ReadyNode,
  prepared: PreparedStep,
  call: PendingWrites,
): Work => ({
  step,
  prepared,
  call: { ...call, ...permissionOf(run, step, prepared.params) },
  succeeded: (output) => complete(run, step.step_key, output),
  failed: (reason, error) => {
    const ask = askingOf(error);
    if (ask === undefined) fail(run, step, text(causeOf(error)), reason, error);
    else askFor(run, step, ask);
  },
});

/**
 * Whether the steps of a node start in the short lane. In a rehearsal, all of them do, since most already have a
 * result; a step that must be executed moves.
 */
export const startsShort = ({ input }: Run, node: ExecutedNode): boolean =>
  laneOf(node) === 'short' || (input.rehearsal !== undefined && !isDelay(node));

/** A `delay` is a timer. */
export const isDelay = (node: ExecutedNode): boolean =>
  node.kind === 'tool' && isTimer(node.tool_name);

/** Dispatches work in the long lane. */
export function startLong(run: Run, work: Work): void {
  follow(run, work, executeLong(run, work));
}

/** Dispatches work in the short lane. It moves to the long lane when necessary. */
export function startShort(run: Run, work: Work): void {
  const { step, prepared, call } = work;
  run.short.inFlight += 1;
  void executeShortStep(run.input, step, prepared, call).then(
    (result) => {
      handleResult(run, () => {
        run.short.inFlight -= 1;
        run.pace.worked(result);
        succeed(run, work, result.output);
      });
    },
    (error: unknown) => {
      handleResult(run, () => {
        run.short.inFlight -= 1;
        moveOrFail(run, work, error);
      });
    },
  );
}

function moveOrFail(run: Run, work: Work, error: unknown): void {
  const move = moveOf(error);
  if (move === undefined) {
    if (!queueCall(run, work, error)) failStep(run, work, error);
    return;
  }
  const { started_ms, ended_ms, delay_ms = 0, costly = false } = move;
  if (started_ms !== undefined && ended_ms !== undefined) run.pace.worked({ started_ms, ended_ms });
  if (costly) {
    run.costly.waiting.push(() => {
      follow(run, work, executeLong(run, work, { costly }), () => endCostly(run));
    });
    startCostly(run);
    return;
  }
  const execute = () => executeLong(run, work);
  follow(run, work, delay_ms > 0 ? sleep(delay_ms).then(execute) : execute());
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

/** Handles the result of work in the long lane, or of a timer. */
export function follow(
  run: Run,
  work: Work,
  result: Promise<Json>,
  ended: () => void = () => undefined,
): void {
  void result.then(
    (output) => {
      run.pace.arrived();
      handleResult(run, () => {
        ended();
        succeed(run, work, output);
      });
    },
    (error: unknown) => {
      run.pace.arrived();
      handleResult(run, () => {
        ended();
        if (!queueCall(run, work, error)) failStep(run, work, error);
      });
    },
  );
}

/** Tries a step again that waits for a free call, if it does. */
export function tryQueued(run: Run, stepKey: string): void {
  const work = takeQueued(run, stepKey);
  if (work !== undefined) startLong(run, work);
}

function succeed(run: Run, { step, succeeded }: Work, output: Json): void {
  run.inFlight.delete(step.step_key);
  // The event that completes the present workflow task: the history up to it contains this result.
  run.observed.push({ step_key: step.step_key, event_id: workflowInfo().historyLength + 1 });
  succeeded(output);
}

export function failStep(run: Run, { step, call, failed }: Work, error: unknown): void {
  run.inFlight.delete(step.step_key);
  const cause = causeOf(error);
  // The pending writes of a call that may never have started are sent again. Writing them twice is harmless.
  run.scheduler.returnControlSteps(call.control);
  failed(reasonOf(cause), error);
}
