import { ApplicationFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { WorkflowNode } from '#shared/contract/workflows/graph.ts';
import {
  FAILURE_BUDGET,
  FAILURE_NODE,
  FAILURE_RUN_GONE,
  FAILURE_UNRECORDED,
} from '#shared/execution.ts';
import type { ChildReport, ChildPlace } from '#shared/graph/children/child-call.ts';
import { nodeLabel, outputKey } from '#shared/graph/compile.ts';
import { renderValue } from '#shared/graph/expression/template.ts';
import type { ControlStep, ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import type { JsonObject } from '#shared/json.ts';
import { askFor, permissionOf } from './approvals.ts';
import { callBeside } from './control.ts';
import { fail, reasonOf, text } from './failures.ts';
import type { Child, ChildWork, Phase } from './open-children.ts';
import { renderingWork } from '#shared/graph/prepare/step.ts';
import { complete, handleResult, pendingWrites, type Run } from './state.ts';
import { show } from './status.ts';
import { recordOf, summaryOf } from './step-call.ts';

/**
 * Steps that wait for a child run. The child's state is in Postgres. The execution only knows that the step waits, and
 * reads the state when a signal says that the child has ended or paused. So a waiting step occupies no worker, and can
 * wait across any number of executions of this run.
 */

/** The activity that starts or reads a child has failed. */
const FAILURE_CHILD_LOST = 'ChildLost';

/** Reads the state of the children that signals were about. */
export function lookAtChildren(run: Run): void {
  const { open, stale } = run.children;
  for (const stepKey of stale) {
    const child = open.get(stepKey);
    if (child?.phase === 'busy') continue;
    stale.delete(stepKey);
    if (child === undefined) continue;
    setPhase(run, child, 'busy');
    follow(run, child, ({ lookAtChild }) => lookAtChild(placeOf(child)));
  }
}

/** The fields that the places of all children have in common. */
export const ownerOf = ({ input: { run_id, workspace_id, workflow_id } }: Run) => ({
  run_id,
  workspace_id,
  workflow_id,
});

/** Starts or resumes the child of a node's step. Returns whether the call carries the control steps. */
export const startNodeChild = (
  run: Run,
  step: ReadyNode,
  node: WorkflowNode,
  shared: ControlStep[],
): boolean => startChild(run, nodeChild(run, step, node), shared);

/** The child run that the step of a `workflow` node waits for. */
function nodeChild(run: Run, step: ReadyNode, node: WorkflowNode): ChildWork {
  const { step_key, iteration } = step;
  const { workflow, version, retry } = node;
  return {
    place: {
      ...ownerOf(run),
      step_key,
      node_id: node.id,
      label: nodeLabel(node),
      iteration,
      output_key: outputKey(node),
      ...(retry === undefined ? {} : { retry }),
    },
    called: () => {
      const input = renderValue(node.input, run.scheduler.state(step_key)) as JsonObject;
      run.pace.add(renderingWork(node.input, input));
      return { workflow, input, ...(version === undefined ? {} : { version }) };
    },
    permission: (input) => permissionOf(run, step, input),
    asks: (ask) => askFor(run, step, ask),
    succeeded: (output) => complete(run, step_key, output),
    failed: (error, reason, cause) => fail(run, step, error, reason, cause),
  };
}

/** Starts or resumes a child. Returns whether the call carries the control steps, by default all waiting ones. */
export function startChild(run: Run, work: ChildWork, shared?: ControlStep[]): boolean {
  const { open, attempts, begun, stale } = run.children;
  const { step_key } = work.place;
  const known = open.get(step_key);
  if (known !== undefined) {
    // Its agent has started again, and waits for the same child.
    known.work = work;
    stale.add(step_key);
    return false;
  }
  const last = attempts.get(step_key) ?? 0;
  const attempt = begun.delete(step_key) ? last : last + 1;
  const child: Child = { work, attempt, phase: 'busy' };
  open.set(step_key, child);
  run.inFlight.add(step_key);
  return begin(run, child, shared);
}

function begin(run: Run, child: Child, shared?: ControlStep[]): boolean {
  const { work, attempt } = child;
  let called;
  try {
    called = work.called();
  } catch (error) {
    close(run, child);
    work.failed(text(error), 'node', error);
    return false;
  }
  run.children.attempts.set(work.place.step_key, attempt);
  const call = {
    ...pendingWrites(run, shared),
    ...placeOf(child),
    ...called,
    ...work.permission?.(called.input),
    ...recordOf(run.input, placeOf(child), work.place.agent),
  };
  follow(run, child, (activities) => activities.startChild(call));
  return true;
}

const placeOf = ({ work, attempt }: Child): ChildPlace => ({ ...work.place, attempt });

function setPhase(run: Run, child: Child, phase: Phase): void {
  const { children, inFlight } = run;
  if (child.phase === 'running') children.running -= 1;
  if (phase === 'running') children.running += 1;
  const { step_key } = child.work.place;
  if (phase === 'busy') inFlight.add(step_key);
  else inFlight.delete(step_key);
  child.phase = phase;
}

/** Ends the wait of a step. */
function close(run: Run, child: Child): void {
  setPhase(run, child, 'paused');
  run.children.open.delete(child.work.place.step_key);
  show(run, 'running');
}

function follow(run: Run, child: Child, call: Parameters<typeof callBeside<ChildReport>>[1]): void {
  callBeside(
    run,
    call,
    (report) => apply(run, child, report),
    (error) => {
      // This run is ending.
      if (isCancellation(error)) return;
      failWith(run, child, text(error), FAILURE_CHILD_LOST);
    },
  );
}

function apply(run: Run, child: Child, report: ChildReport): void {
  const { step_key } = child.work.place;
  run.atRest = false;
  switch (report.state) {
    case 'running':
    case 'paused':
      setPhase(run, child, report.state);
      return;
    case 'success':
    case 'reported':
      close(run, child);
      run.children.attempts.delete(step_key);
      child.work.succeeded(report.state === 'success' ? report.output : {});
      return;
    case 'asks':
      close(run, child);
      // Nothing was started.
      run.children.attempts.set(step_key, child.attempt - 1);
      child.work.asks?.(report.ask);
      return;
    case 'failed': {
      const { error, attempts, kind = 'child', retry_ms } = report;
      if (retry_ms === undefined) {
        failWith(run, child, error, FAILURE_NODE, { kind, attempts });
      } else {
        void sleep(retry_ms, { summary: summaryOf(`Retry of ${step_key}`) }).then(
          () => handleResult(run, () => tryAgain(run, child)),
          () => undefined,
        );
      }
      return;
    }
    case 'stopped':
      failWith(run, child, report.error, FAILURE_BUDGET, report.evidence);
      return;
    case 'unrecorded':
      failWith(run, child, report.error, FAILURE_UNRECORDED);
      return;
    case 'gone':
      failWith(run, child, 'The run no longer accepts this work', FAILURE_RUN_GONE);
      return;
    default:
      report satisfies never;
  }
}

function tryAgain(run: Run, child: Child): void {
  run.pace.arrived();
  child.attempt += 1;
  begin(run, child, run.scheduler.takeControlSteps());
}

function failWith(
  run: Run,
  child: Child,
  message: string,
  type: string,
  details?: JsonObject,
): void {
  close(run, child);
  const cause = ApplicationFailure.create({
    message,
    type,
    nonRetryable: true,
    details: details === undefined ? [] : [details],
  });
  child.work.failed(message, reasonOf(cause), cause);
}
