import { isChild, isExecuted, isWait, isWaiting, type ExecutedNode } from '#shared/graph/kinds.ts';
import { JsonText } from '#shared/values/json-text.ts';
import type { ControlStep, ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import { dispatchAgents, startAgent } from './agents.ts';
import { isDelay, nodeWork, startLong, startShort, startsShort } from './attempts.ts';
import { startNodeChild } from './children.ts';
import { control } from './control.ts';
import { startDelay } from './delay.ts';
import { catchKnownFailure, collectFailed, fail, text } from './failures.ts';
import { reachGate } from './gates.ts';
import { completeKnown, handleKnown, noteKnown, pendingWrites, type Run, wake } from './state.ts';
import { preparingWork, prepareStep } from '#shared/graph/prepare/step.ts';
import { callbacksOf } from '#shared/graph/waits/callbacks.ts';
import { startWait } from './waits.ts';

/**
 * Above this number, control steps are written once before a batch starts, instead of being sent with each of its
 * steps.
 */
const MAX_CARRIED_PER_STEP = 20;

/**
 * Like `MAX_CARRIED_PER_STEP`, for maps at any time: their items can compute thousands of steps before one needs a
 * call.
 */
const MAX_WAITING_CONTROL = 200;

/**
 * The maximum number of concurrent short steps of a run: one holds the run's row while the next is prepared. More would
 * wait for the row, and delay other runs.
 */
const SHORT_IN_FLIGHT = 2;

/**
 * Starts all ready steps, up to the limits on steps in flight. Returns a promise only in the rare case that many
 * control steps must be written first.
 */
export function launch(run: Run): Promise<void> | undefined {
  const paused = dispatchAgents(run, SHORT_IN_FLIGHT);
  // Nodes that became ready start in the next iteration.
  if (paused !== undefined) return paused.then(() => wake(run));
  const ready = takeReady(run);
  const many = run.maps && run.scheduler.controlSteps >= MAX_WAITING_CONTROL;
  if (ready.length === 0 && !many) return undefined;
  const steps = run.scheduler.takeControlSteps();
  collectFailed(run, steps);
  if (many || (steps.length > MAX_CARRIED_PER_STEP && ready.length > 1)) {
    return control
      .recordControlSteps(pendingWrites(run, steps))
      .then(() => startSteps(run, ready, []));
  }
  return startSteps(run, ready, steps);
}

function takeReady(run: Run): ReadyNode[] {
  const { input, inFlight, short } = run;
  // As many again can wait for a free call, so that they do not keep other steps from starting.
  const queued = Math.max(0, run.queued.open.size - input.limits.steps_in_flight);
  const busy = inFlight.size + short.held.length + run.children.running + queued;
  const room = input.limits.steps_in_flight - busy;
  const ready = takeKnownFirst(run, Math.max(0, room));
  // There is room for what the held maps begin, so the next iteration takes it.
  if (run.scheduler.held && ready.length < room) wake(run);
  let slots = SHORT_IN_FLIGHT - short.inFlight;
  const waiting: ReadyNode[] = [];
  const taken = [...short.held, ...ready].filter((step) => {
    if (!isShort(run, step)) return true;
    slots -= 1;
    if (slots < 0) waiting.push(step);
    return slots >= 0;
  });
  short.held = waiting;
  return taken;
}

/**
 * Steps with a result come before others, in the order in which they ended: an error among them keeps the same steps
 * from starting again. In a rehearsal, those that failed follow, for the same reason.
 */
function takeKnownFirst(run: Run, room: number): ReadyNode[] {
  const { input, scheduler, replay, known, inFlight, gates } = run;
  if (replay === undefined) return scheduler.takeReady(room);
  if (known.length > 0 || gates.decided) return [];
  replay.add(scheduler.takeReady(Infinity, (key) => replay.has(key)));
  const next = replay.next();
  if (next !== undefined) return [next];
  if (input.rehearsal === undefined) {
    run.replay = undefined;
    return scheduler.takeReady(room);
  }
  const failed = new Set(input.rehearsal.failed);
  const again = scheduler.takeReady(room, (key) => failed.has(key));
  if (again.length > 0) return again;
  const open = [...inFlight, ...gates.openings().map(({ step_key }) => step_key)];
  return open.some((key) => failed.has(key)) ? [] : scheduler.takeReady(room);
}

/** An agent with tools takes no slot itself, but its turns and calls do. */
const hasTools = (node: ExecutedNode): boolean => node.kind === 'agent' && node.tools !== undefined;

function isShort(run: Run, step: ReadyNode): boolean {
  const node = run.scheduler.node(step.step_key);
  return isExecuted(node) && !hasTools(node) && startsShort(run, node);
}

/** Returns a promise only when a workflow task has no time for all of them. */
function startSteps(
  run: Run,
  ready: readonly ReadyNode[],
  shared: ControlStep[],
): Promise<void> | undefined {
  let used = false;
  for (const [at, step] of ready.entries()) {
    const pause = isShort(run, step) ? run.pace.pauseForShort() : run.pace.pause();
    if (pause !== undefined) {
      return pause.then(() => startSteps(run, ready.slice(at), used ? [] : shared));
    }
    const node = run.scheduler.node(step.step_key);
    if (caughtBefore(run, step) || keptBefore(run, step)) continue;
    if (isWaiting(node)) reachGate(run, step, node);
    else if (isWait(node)) used = startWait(run, step, node, used ? [] : shared) || used;
    else if (isChild(node)) used = startNodeChild(run, step, node, used ? [] : shared) || used;
    else if (isExecuted(node) && startStep(run, step, node, shared)) used = true;
  }
  // No call carries them, so they wait for the next one.
  if (!used && shared.length > 0) run.scheduler.returnControlSteps(shared);
  return undefined;
}

/** A step from the ledger whose error was caught takes the same path again. */
function caughtBefore(run: Run, { step_key }: ReadyNode): boolean {
  const caught = run.ledger?.caught?.[step_key];
  if (caught === undefined) return false;
  handleKnown(run, () => {
    run.scheduler.fail(step_key);
    noteKnown(run, step_key);
    catchKnownFailure(run, step_key, caught);
  });
  return true;
}

/** A step that is finished in the ledger has that output. */
function keptBefore(run: Run, { step_key }: ReadyNode): boolean {
  const text = run.ledger?.texts[step_key];
  if (text === undefined) return false;
  // Each of its characters passes through the threads of all runs. If there were many, the next step waits.
  run.pace.add(text.length);
  handleKnown(run, () => {
    noteKnown(run, step_key);
    completeKnown(run, step_key, new JsonText(text, step_key));
  });
  return true;
}

/** Returns whether a call carries the control steps. */
function startStep(run: Run, step: ReadyNode, node: ExecutedNode, shared: ControlStep[]): boolean {
  if (node.kind === 'agent' && node.tools !== undefined) return startAgent(run, step, node);
  let prepared;
  try {
    prepared = prepareStep(node, run.scheduler.state(step.step_key), callbacksOf(run.graph));
    run.pace.add(preparingWork(node, prepared));
  } catch (error) {
    fail(run, step, text(error), 'node', error);
    return false;
  }
  const call = pendingWrites(run, shared);
  run.inFlight.add(step.step_key);
  if (isShort(run, step)) {
    startShort(run, nodeWork(run, step, prepared, call));
  } else if (isDelay(node)) {
    startDelay(run, step, prepared, call);
  } else {
    startLong(run, nodeWork(run, step, prepared, call));
  }
  return true;
}
