import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { isChild, isExecuted, isWait, isWaiting } from '#shared/graph/kinds.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import { runError } from '#shared/graph/run-error.ts';
import { startAgent, takesTurns } from './agents.ts';
import { startChild } from './children.ts';
import { openGates, reachGate } from './gates.ts';
import type { Playing } from './playing.ts';
import { closeRun, hasRunningChildren } from './rest.ts';
import { startStep } from './steps.ts';
import { startWait } from './waits.ts';

/**
 * Continues a run after something has happened in it, as the workflow of a run does: starts what is ready, ends the run
 * when nothing is in flight and it has failed or is done, and opens its gates when it is at rest.
 */
export function proceed(run: Playing): void {
  if (run.end !== undefined) return;
  endRest(run);
  observe(run);
  launch(run);
  if (run.inFlight.size > 0 || hasRunningChildren(run)) return;
  const [failed] = run.failures.values();
  if (failed !== undefined) {
    const { message: error, reason, label, node } = failed;
    run.end = {
      ...{ status: 'failed', error: runError({ label, error, reason }) },
      ...{ kind: reason, node_id: node.id },
    };
  } else if (run.scheduler.done) {
    run.end = { status: 'success', output: run.scheduler.output() };
  }
  if (run.end === undefined) {
    openGates(run);
    if (run.gates.size + run.waits.size > 0) run.restSince = run.world.clock.now;
  } else closeRun(run);
  run.noticed();
}

function endRest(run: Playing): void {
  if (run.restSince !== undefined) run.waitedMs += run.world.clock.now - run.restSince;
  run.restSince = undefined;
}

function launch(run: Playing): void {
  while (run.failures.size === 0) {
    const ready = run.scheduler.takeReady();
    if (ready.length === 0 && !run.scheduler.held) return;
    for (const step of ready) start(run, step, run.scheduler.node(step.step_key));
    observe(run);
  }
}

function start(run: Playing, step: ReadyNode, node: GraphNode): void {
  if (isWaiting(node)) reachGate(run, step, node);
  else if (isWait(node)) startWait(run, step, node);
  else if (isChild(node)) startChild(run, step, node);
  else if (isExecuted(node) && takesTurns(run, node)) startAgent(run, step, node);
  else if (isExecuted(node)) startStep(run, step, node);
}

/** Records what the scheduler has computed. A condition, loop or map whose expression failed fails the run. */
function observe({ scheduler, book, failures }: Playing): void {
  for (const step of scheduler.takeControlSteps()) {
    book.control(step);
    const { step_key: key, status, caught, error: message = 'failed', label } = step;
    if (status !== 'failed' || caught !== undefined || failures.has(key)) continue;
    const node = scheduler.node(key);
    failures.set(key, { step: { step_key: key }, node, label, message, reason: 'node' });
  }
}
