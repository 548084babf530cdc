import {
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  continueAsNew,
  ContinueAsNew,
  defineSignal,
  isCancellation,
  log,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  sleep,
  TemporalFailure,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { GateNode } from '../../shared/contract/graph.ts';
import {
  type Carriage,
  type ControlActivities,
  type FailedStep,
  FAILURE_BUDGET,
  FAILURE_RUN,
  type LedgerState,
  type ObservedStep,
  type RunGraphInput,
  searchAttributes,
  SIGNAL_DECISION,
  SIGNAL_RESUMED,
} from '../../shared/execution.ts';
import { compileGraph } from '../../shared/graph/compile.ts';
import { type ExecutedNode, isExecuted, isWaiting } from '../../shared/graph/kinds.ts';
import { laneOf } from '../../shared/graph/lanes.ts';
import {
  type ControlStep,
  createScheduler,
  type ReadyNode,
  type Scheduler,
} from '../../shared/graph/schedule/scheduler.ts';
import { renderTemplate } from '../../shared/graph/expression/template.ts';
import type { Json, JsonObject } from '../../shared/json.ts';
import { rejectionError } from '../../shared/rejection.ts';
import { parseDelay } from '../../shared/tools.ts';
import { createOpenGates } from './open-gates.ts';
import { createPace, unhurried } from './pace.ts';
import {
  hasFields,
  isAmount,
  isListOf,
  isObject,
  isText,
  optional,
  readDecision,
  readResumed,
  requireInput,
} from '../received.ts';
import {
  executeShortStep,
  executeStep,
  failedStep,
  moveOf,
  type PreparedStep,
  preparingWork,
  prepareStep,
  summaryOf,
} from './step-call.ts';

/** More control steps than this are written once before a batch starts, not sent along with each of its steps. */
const MAX_CARRIED_PER_STEP = 20;

/** The engine version since which texts count as work and a run takes a pause when it has done much. */
const PACED_SINCE = 2;
/** The engine version since which short steps are local activities. */
const LANES_SINCE = 3;

/**
 * Short steps of a run that are in flight at once: one holds the run's row, the next is prepared meanwhile. More of them
 * would wait for the row, and the runs of others for them.
 */
const SHORT_IN_FLIGHT = 2;
/** Steps of a run in flight that are costly to compute. A workspace's take turns on the threads, so more would wait. */
const COSTLY_IN_FLIGHT = 2;

const decisionSignal = defineSignal<[unknown]>(SIGNAL_DECISION);
const resumedSignal = defineSignal<[unknown]>(SIGNAL_RESUMED);

const statusKey = defineSearchAttributeKey(searchAttributes.status, SearchAttributeType.KEYWORD);
const costKey = defineSearchAttributeKey(searchAttributes.cost, SearchAttributeType.DOUBLE);

// Bookkeeping never gives up: a long outage of the database must not turn a finished run into a failed one.
const control = proxyLocalActivities<ControlActivities>({
  startToCloseTimeout: '15s',
  localRetryThreshold: '10s',
  retry: { initialInterval: '50ms', backoffCoefficient: 2, maximumInterval: '10s' },
});

export interface RunResult {
  run_id: string;
  status: string;
  output: JsonObject;
}

/**
 * One run: asks the scheduler what is ready and does it. All decisions about the graph are the scheduler's, all
 * writes are the activities'; this is the part between them that Temporal replays.
 */
export async function runGraph(input: RunGraphInput): Promise<RunResult> {
  requireInput('runGraph', inputFields, input);
  try {
    return await createRun(input).drive();
  } catch (error) {
    if (error instanceof ContinueAsNew) throw error;
    const cancelled = isCancellation(error);
    if (cancelled || !isSettledFailure(error)) {
      await CancellationScope.nonCancellable(() =>
        control.abandonRun({
          run_id: input.run_id,
          kind: cancelled ? 'cancelled' : 'crash',
          error: cancelled ? 'Cancelled in Temporal' : `The run crashed: ${text(error)}`,
        }),
      );
    }
    // A plain Error would make the workflow task fail for ever instead of the run.
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
  limits: hasFields({ steps_in_flight: isAmount, heartbeat_timeout_ms: isAmount }),
  graph: hasFields({ nodes: isListOf(isObject), edges: isListOf(isObject) }),
  input: isObject,
  carried: optional(isObject),
};

const isSettledFailure = (error: unknown): boolean =>
  error instanceof ApplicationFailure && error.type === FAILURE_RUN;

const text = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function evidenceOf(error: unknown): JsonObject {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const details = cause instanceof ApplicationFailure ? cause.details : undefined;
  return (details?.[0] ?? {}) as JsonObject;
}

function createRun(input: RunGraphInput) {
  const { carried } = input;
  const earlier = input.engine_version < PACED_SINCE;
  const scheduler: Scheduler = createScheduler(
    compileGraph(input.graph),
    input.input,
    carried?.scheduler,
    { earlier },
  );
  const oneLane = input.engine_version < LANES_SINCE;
  const pace = earlier ? unhurried : createPace(() => scheduler.workDone, { byLength: oneLane });
  const gates = createOpenGates(
    (nodeId) =>
      !input.graph.edges.some((edge) => edge.source === nodeId && edge.condition_value === 'false'),
    carried,
  );
  const inFlight = new Set<string>();
  let shortInFlight = 0;
  /** Short steps that were given out and wait for others to end. */
  let held: ReadyNode[] = [];
  let costlyInFlight = 0;
  /** Begin the costly steps that wait for others to end. */
  const costlyWaiting: (() => void)[] = [];
  /**
   * What came of steps and is yet to be taken in. One by one, each with all that follows from it: a replay is told of
   * several local activities at once that ended one after the other, and has to give the same commands.
   */
  const arrived: (() => void)[] = [];
  const failures = new Map<string, { step: FailedStep; cause?: unknown }>();
  let observed: ObservedStep[] = carried?.observed ?? [];
  let ledger: LedgerState | undefined;
  let failureCount = carried?.failures ?? 0;
  let atRest = false;
  let shownStatus = 'running';
  let finished = 0;
  let woken = false;
  let cancelled: Error | undefined;
  let resolveWake: (() => void) | undefined;

  // A promise of our own instead of `condition`: the loop turns with every event, and the SDK keeps a stack trace
  // of each promise made in workflow code.
  CancellationScope.current().cancelRequested.catch((error: unknown) => {
    cancelled = error instanceof Error ? error : new CancelledFailure('Cancelled');
    wake();
  });

  function wake(): void {
    woken = true;
    resolveWake?.();
    resolveWake = undefined;
  }

  // A malformed signal is not ours: Postgres holds every decision, and tells of it again when the run comes to rest.
  const ignored = (signal: string): void => log.warn('ignored a malformed signal', { signal });
  setHandler(decisionSignal, (message) => {
    pace.arrived();
    const decision = readDecision(message);
    if (decision === undefined) {
      ignored(SIGNAL_DECISION);
      return;
    }
    gates.learn(decision);
    wake();
  });
  setHandler(resumedSignal, (message) => {
    pace.arrived();
    const decisions = readResumed(message);
    if (decisions === undefined) {
      ignored(SIGNAL_RESUMED);
      return;
    }
    for (const decision of decisions) {
      if (decision === undefined) ignored(SIGNAL_RESUMED);
      else gates.learn(decision);
    }
    // Whatever the reset cut off, the ledger is told again where the run stands.
    atRest = false;
    wake();
  });

  async function drive(): Promise<RunResult> {
    if (input.from_ledger === true) {
      ledger = await control.loadLedger({ run_id: input.run_id });
      failureCount = ledger.failures;
      gates.learnLedger(ledger);
    }
    for (;;) {
      woken = false;
      if (cancelled !== undefined) throw cancelled;
      do {
        const pause = pace.pause();
        if (pause !== undefined) await pause;
        arrived.shift()?.();
      } while (oneLane && arrived.length > 0);
      const closing = failures.size > 0 || workflowInfo().continueAsNewSuggested;
      if (!closing) {
        const recorded = launch();
        if (recorded !== undefined) await recorded;
      }
      collectFailedControl();
      if (inFlight.size === 0 && !woken) {
        if (failures.size > 0) {
          await settleFailures();
          continue;
        }
        if (scheduler.done) return finish();
        if (applyDecisions()) continue;
        if (workflowInfo().continueAsNewSuggested) await carryOn();
        if (await rest()) continue;
      } else if (!closing && applyDecisions()) {
        continue;
      }
      if (!woken && arrived.length === 0) {
        await new Promise<void>((resolve) => {
          resolveWake = resolve;
        });
      }
    }
  }

  function carriage(steps: ControlStep[] = scheduler.takeControlSteps()): Carriage {
    const call = { run_id: input.run_id, control: steps, observed };
    observed = [];
    return call;
  }

  /**
   * Starts everything that is ready, up to the limits of steps in flight. Returns a promise only in the rare case
   * that many control steps have to be written first.
   */
  function launch(): Promise<void> | undefined {
    const ready = takeReady();
    if (ready.length === 0) return undefined;
    const steps = scheduler.takeControlSteps();
    collectFailed(steps);
    if (steps.length > MAX_CARRIED_PER_STEP && ready.length > 1) {
      return control.recordControlSteps(carriage(steps)).then(() => startSteps(ready, []));
    }
    return startSteps(ready, steps);
  }

  function takeReady(): ReadyNode[] {
    const room = input.limits.steps_in_flight - inFlight.size - held.length;
    const ready = scheduler.takeReady(Math.max(0, room));
    if (oneLane) return ready;
    let places = SHORT_IN_FLIGHT - shortInFlight;
    const waiting: ReadyNode[] = [];
    const taken = [...held, ...ready].filter((step) => {
      if (!isShort(step)) return true;
      places -= 1;
      if (places < 0) waiting.push(step);
      return places >= 0;
    });
    held = waiting;
    return taken;
  }

  function isShort(step: ReadyNode): boolean {
    const node = scheduler.node(step.step_key);
    return !oneLane && isExecuted(node) && laneOf(node) === 'short';
  }

  /** Returns a promise only when a workflow task has no time for all of them. */
  function startSteps(
    ready: readonly ReadyNode[],
    shared: ControlStep[],
  ): Promise<void> | undefined {
    let used = false;
    for (const [at, step] of ready.entries()) {
      const pause = isShort(step) ? pace.pauseForShort() : pace.pause();
      if (pause !== undefined) {
        return pause.then(() => startSteps(ready.slice(at), used ? [] : shared));
      }
      const node = scheduler.node(step.step_key);
      if (isWaiting(node)) reachGate(step, node);
      else if (isExecuted(node) && startStep(step, node, shared)) used = true;
    }
    // Nobody took them along: they wait for the next call.
    if (!used && shared.length > 0) scheduler.returnControlSteps(shared);
    return undefined;
  }

  function startStep(step: ReadyNode, node: ExecutedNode, shared: ControlStep[]): boolean {
    const kept = ledger?.outputs[step.step_key];
    if (kept !== undefined) {
      takeIn(() => complete(step.step_key, kept));
      return false;
    }
    let prepared;
    try {
      prepared = prepareStep(node, scheduler.state());
      pace.add(preparingWork(node, prepared));
    } catch (error) {
      fail(step, text(error), 'node', error);
      return false;
    }
    const call = carriage(shared);
    inFlight.add(step.step_key);
    if (isShort(step)) {
      startShortStep(step, prepared, call);
    } else if (node.kind === 'tool' && node.tool_name === 'delay') {
      follow(step, call, wait(step, prepared.label, prepared.params, call));
    } else {
      follow(step, call, executeStep(input, step, prepared, call));
    }
    return true;
  }

  function startShortStep(step: ReadyNode, prepared: PreparedStep, call: Carriage): void {
    shortInFlight += 1;
    void executeShortStep(input, step, prepared, call).then(
      (result) => {
        takeIn(() => {
          shortInFlight -= 1;
          pace.worked(result);
          succeed(step, result.output);
        });
      },
      (error: unknown) => {
        takeIn(() => {
          shortInFlight -= 1;
          const move = moveOf(error);
          if (move === undefined) {
            failStep(step, call, error);
            return;
          }
          const { started_ms, ended_ms, delay_ms = 0, costly = false } = move;
          if (started_ms !== undefined && ended_ms !== undefined) {
            pace.worked({ started_ms, ended_ms });
          }
          if (costly) {
            costlyWaiting.push(() => {
              const work = executeStep(input, step, prepared, call, { costly });
              follow(step, call, work, endCostly);
            });
            startCostly();
            return;
          }
          const goOn = () => executeStep(input, step, prepared, call);
          follow(step, call, delay_ms > 0 ? sleep(delay_ms).then(goOn) : goOn());
        });
      },
    );
  }

  function startCostly(): void {
    while (costlyInFlight < COSTLY_IN_FLIGHT && costlyWaiting.length > 0) {
      costlyInFlight += 1;
      costlyWaiting.shift()?.();
    }
  }

  function endCostly(): void {
    costlyInFlight -= 1;
    startCostly();
  }

  /** Takes in what comes of a step in the long lane. */
  function follow(
    step: ReadyNode,
    call: Carriage,
    work: Promise<Json>,
    ended: () => void = () => undefined,
  ): void {
    void work.then(
      (output) => {
        pace.arrived();
        takeIn(() => {
          ended();
          succeed(step, output);
        });
      },
      (error: unknown) => {
        if (oneLane) {
          failStep(step, call, error);
          return;
        }
        pace.arrived();
        takeIn(() => {
          ended();
          failStep(step, call, error);
        });
      },
    );
  }

  function succeed(step: ReadyNode, output: Json): void {
    inFlight.delete(step.step_key);
    // The event that completes the workflow task under way: the history up to it holds this result.
    observed.push({ step_key: step.step_key, event_id: workflowInfo().historyLength + 1 });
    complete(step.step_key, output);
  }

  function failStep(step: ReadyNode, call: Carriage, error: unknown): void {
    inFlight.delete(step.step_key);
    const cause = error instanceof ActivityFailure ? error.cause : error;
    // What travelled with a call that may never have begun is sent again; writing it twice is harmless.
    scheduler.returnControlSteps(call.control);
    const stopped = cause instanceof ApplicationFailure && cause.type === FAILURE_BUDGET;
    fail(step, text(cause), stopped ? 'budget' : 'node', error);
  }

  /** A `delay` is a timer of the server: it holds no worker and outlives every restart. */
  async function wait(
    step: ReadyNode,
    label: string,
    params: JsonObject,
    call: Carriage,
  ): Promise<Json> {
    const delay = parseDelay(params);
    if ('error' in delay) throw ApplicationFailure.nonRetryable(delay.error);
    const entry = {
      step_key: step.step_key,
      node_id: step.node_id,
      label,
      kind: 'tool' as const,
      iteration: step.iteration,
    };
    await control.recordControlSteps({
      ...call,
      control: [...call.control, { ...entry, status: 'running' }],
    });
    await sleep(delay.seconds * 1000, { summary: summaryOf(label) });
    const output = { delayed_seconds: delay.seconds };
    scheduler.returnControlSteps([
      ...scheduler.takeControlSteps(),
      { ...entry, status: 'success', output },
    ]);
    return output;
  }

  /** What a finished step leads to is computed at once, or where a pace is kept, as soon as there is time for it. */
  function takeIn(arrival: () => void): void {
    if (earlier) {
      arrival();
      return;
    }
    arrived.push(arrival);
    wake();
  }

  function complete(stepKey: string, output: Json): void {
    finished += 1;
    scheduler.complete(stepKey, output);
    wake();
  }

  function fail(
    step: Pick<ReadyNode, 'step_key' | 'iteration'>,
    error: string,
    reason: FailedStep['reason'],
    cause?: unknown,
  ): void {
    scheduler.fail(step.step_key);
    const failed = failedStep(scheduler, step, error, reason);
    if (reason === 'budget') failed.evidence = evidenceOf(cause);
    failures.set(step.step_key, { step: failed, cause });
    wake();
  }

  /** A condition or loop whose expression erred has failed like any node. */
  function collectFailed(steps: readonly ControlStep[]): void {
    for (const step of steps) {
      if (step.status !== 'failed' || failures.has(step.step_key)) continue;
      const error = step.error ?? 'failed';
      failures.set(step.step_key, { step: failedStep(scheduler, step, error, 'node') });
    }
  }

  function collectFailedControl(): void {
    const steps = scheduler.takeControlSteps();
    collectFailed(steps);
    scheduler.returnControlSteps(steps);
  }

  function reachGate(step: ReadyNode, node: GateNode): void {
    let prompt;
    try {
      const rendered = renderTemplate(node.prompt, scheduler.state());
      prompt = typeof rendered === 'string' ? rendered : JSON.stringify(rendered);
    } catch (error) {
      fail(step, text(error), 'node', error);
      return;
    }
    gates.reach(step, node, prompt);
    atRest = false;
    wake();
  }

  /** Passes the gates that have been decided. Returns whether there was one. */
  function applyDecisions(): boolean {
    let applied = false;
    while (!pace.spent()) {
      const gate = gates.takeDecided();
      if (gate === undefined) break;
      applied = true;
      atRest = false;
      show('running');
      const stepKey = gate.step.step_key;
      if (scheduler.decide(stepKey, gate.decision) === 'continued') continue;
      gates.askAgain(gate);
      const error = rejectionError(gate.opening.label, gate.decision.reason);
      failures.set(stepKey, { step: failedStep(scheduler, gate.step, error, 'rejected') });
    }
    return applied;
  }

  /** Nothing is in flight and gates are open: the run is paused. Returns whether there is something to do at once. */
  async function rest(): Promise<boolean> {
    if (atRest) return false;
    atRest = true;
    const open = gates.openings();
    const result = await control.pauseAtGates({ ...carriage(), gates: open });
    result.decisions.forEach(gates.learn);
    if (result.decisions.length > 0) return true;
    show(
      'paused',
      open.map((gate) => `Paused at gate **${gate.label}**: ${gate.prompt}`).join('\n\n'),
    );
    return woken;
  }

  /** Reports what failed, once everything in flight has ended, and either goes on or ends the run. */
  async function settleFailures(): Promise<void> {
    const failed = [...failures.values()].map((failure) => failure.step);
    const call = { ...carriage(), n: failureCount + 1, failed };
    const verdict = await control.onFailure(call);
    if (verdict.verdict === 'finished') {
      for (const [stepKey, output] of Object.entries(verdict.outputs)) {
        const pause = pace.pause();
        if (pause !== undefined) await pause;
        failures.delete(stepKey);
        scheduler.retry(stepKey);
        complete(stepKey, output);
      }
      return;
    }
    failureCount += 1;
    if (verdict.verdict === 'fail') {
      show('failed', verdict.error);
      const first = [...failures.values()][0];
      throw ApplicationFailure.create({
        message: verdict.error,
        type: FAILURE_RUN,
        nonRetryable: true,
        details: [{ failed: failed.map((step) => step.step_key) }],
        cause: first?.cause instanceof Error ? first.cause : undefined,
      });
    }
    failures.clear();
    for (const step of failed) {
      const pause = pace.pause();
      if (pause !== undefined) await pause;
      scheduler.retry(step.step_key);
    }
    log.info('resumed', { failures: failureCount });
  }

  async function finish(): Promise<RunResult> {
    const { output, state } = scheduler.result();
    const { status, cost_usd } = await control.settleRun({ ...carriage(), output, state });
    upsertSearchAttributes([
      { key: statusKey, value: status },
      { key: costKey, value: cost_usd },
    ]);
    setCurrentDetails(`Ended as **${status}** after ${finished} steps, cost $${cost_usd}`);
    return { run_id: input.run_id, status, output };
  }

  function show(status: string, details = `Running, ${finished} steps done`): void {
    setCurrentDetails(details);
    if (status === shownStatus) return;
    shownStatus = status;
    upsertSearchAttributes([{ key: statusKey, value: status }]);
  }

  /** Keeps the history short: a new execution takes over the whole state. Only at rest, so nothing is in flight. */
  async function carryOn(): Promise<never> {
    await control.recordControlSteps(carriage());
    return continueAsNew<typeof runGraph>({
      ...input,
      from_ledger: false,
      carried: {
        scheduler: scheduler.snapshot(),
        ...gates.carried(),
        failures: failureCount,
        observed,
      },
    });
  }

  return { drive };
}
