import { ApplicationFailure, isCancellation } from '@temporalio/workflow';
import type { WaitNode } from '#shared/contract/workflows/graph.ts';
import { FAILURE_NODE, FAILURE_RUN_GONE, FAILURE_UNRECORDED } from '#shared/execution.ts';
import { nodeLabel, outputKey } from '#shared/graph/compile.ts';
import type { ControlStep, ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import { waitsFor } from '#shared/graph/waits/prepare.ts';
import { seriesOf } from '#shared/graph/waits/series.ts';
import { lateError, type WaitReport, type WaitsFor } from '#shared/graph/waits/wait-call.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { tryQueued } from './attempts.ts';
import { callBeside } from './control.ts';
import { fail, reasonOf, text } from './failures.ts';
import { complete, handleResult, pendingWrites, type Run } from './state.ts';
import type { Waiting } from './open-waits.ts';

/**
 * Steps that wait for a time, an event or a callback. What they wait for is a row in Postgres, and the row decides
 * whether it came or its time ran out. The execution reads the row when a signal says that something came or that its
 * time is up. So a waiting step occupies neither a worker nor a timer of the server.
 */

/** Reads the rows that signals, and timers of steps that wait for a free call, were about. */
export function lookAtWaits(run: Run): void {
  const { open, stale } = run.waits;
  for (const stepKey of stale) {
    const waiting = open.get(stepKey);
    if (waiting?.busy === true) continue;
    // Nothing begins in a run that is failing.
    if (run.queued.open.has(stepKey) && run.failures.size > 0) continue;
    stale.delete(stepKey);
    if (waiting === undefined) {
      tryQueued(run, stepKey);
      continue;
    }
    const place = { run_id: run.input.run_id, step_key: stepKey };
    follow(run, waiting, ({ checkWait }) => checkWait(place));
  }
}

/** Starts a wait, or continues it. Returns whether the call carries the control steps. */
export function startWait(
  run: Run,
  step: ReadyNode,
  node: WaitNode,
  shared: ControlStep[],
): boolean {
  const { step_key, iteration } = step;
  let waits_for: WaitsFor;
  try {
    waits_for = waitsFor(node, run.scheduler.state(step_key));
  } catch (error) {
    fail(run, step, text(error), 'node', error);
    return false;
  }
  const entry = entryOf(step, node);
  const { run_id, workspace_id, rehearsal, reuses = [] } = run.input;
  // A rehearsal does not wait, and a fork does not wait for a time again.
  if (rehearsal !== undefined || (waits_for.for === 'time' && reuses.includes(step_key))) {
    passOver(run, step, node, waits_for);
    return false;
  }
  const waiting: Waiting = { step, node, busy: false };
  run.waits.open.set(step_key, waiting);
  const { control, observed } = pendingWrites(run, [...shared, { ...entry, status: 'running' }]);
  const call = {
    ...{ run_id, workspace_id, control, observed, step_key, node_id: node.id, label: entry.label },
    ...{ iteration, waits_for, series: seriesOf(run.graph, step) },
    ...(node.remind_seconds === undefined ? {} : { remind_seconds: node.remind_seconds }),
  };
  follow(run, waiting, ({ openWait }) => openWait(call));
  return true;
}

/** A time has come. Without a record, an event never comes. */
function passOver(run: Run, step: ReadyNode, node: WaitNode, awaited: WaitsFor): void {
  handleResult(run, () => {
    if (awaited.for === 'time') {
      succeed(run, step, node, {});
      return;
    }
    const message = `The recorded run has no result for '${nodeLabel(node)}': pin its output, or start from a later step`;
    failWith(run, step, message, FAILURE_UNRECORDED);
  });
}

function follow(
  run: Run,
  waiting: Waiting,
  call: Parameters<typeof callBeside<WaitReport>>[1],
): void {
  const { step } = waiting;
  waiting.busy = true;
  run.inFlight.add(step.step_key);
  callBeside(
    run,
    call,
    (report) => {
      waiting.busy = false;
      run.inFlight.delete(step.step_key);
      apply(run, waiting, report);
    },
    (error) => {
      // This run is ending.
      if (isCancellation(error)) return;
      close(run, waiting);
      failWith(run, step, text(error), FAILURE_NODE);
    },
  );
}

function apply(run: Run, waiting: Waiting, report: WaitReport): void {
  const { step, node } = waiting;
  switch (report.state) {
    case 'open':
      return;
    case 'came':
      close(run, waiting);
      succeed(run, step, node, report.output);
      return;
    case 'late':
      close(run, waiting);
      if (node.on_timeout === 'continue') succeed(run, step, node, null);
      else failWith(run, step, lateError(nodeLabel(node), node), FAILURE_NODE, LATE);
      return;
    case 'gone':
      close(run, waiting);
      failWith(run, step, 'The run no longer accepts this work', FAILURE_RUN_GONE);
      return;
    default:
      report satisfies never;
  }
}

const LATE = { kind: 'timeout', attempts: 1 };

function close(run: Run, { step }: Waiting): void {
  run.waits.open.delete(step.step_key);
  run.inFlight.delete(step.step_key);
  // Work that follows may have ended a pause.
  run.atRest = false;
}

const entryOf = (step: ReadyNode, node: WaitNode): Omit<ControlStep, 'status'> => ({
  step_key: step.step_key,
  node_id: step.node_id,
  label: nodeLabel(node),
  kind: 'wait',
  iteration: step.iteration,
  output_key: outputKey(node),
});

function succeed(run: Run, step: ReadyNode, node: WaitNode, output: Json): void {
  run.scheduler.returnControlSteps([
    ...run.scheduler.takeControlSteps(),
    { ...entryOf(step, node), status: 'success', output },
  ]);
  complete(run, step.step_key, output);
}

function failWith(
  run: Run,
  step: ReadyNode,
  message: string,
  type: string,
  details?: JsonObject,
): void {
  const cause = ApplicationFailure.create({
    message,
    type,
    nonRetryable: true,
    details: details === undefined ? [] : [details],
  });
  fail(run, step, message, reasonOf(cause), cause);
}
