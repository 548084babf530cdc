import { defineSignal, log, setHandler } from '@temporalio/workflow';
import type { GateNode } from '#shared/contract/workflows/graph.ts';
import {
  type PauseCall,
  SIGNAL_CHILD,
  SIGNAL_DECISION,
  SIGNAL_RESUMED,
  SIGNAL_WAITED,
} from '#shared/execution.ts';
import { askedStep, type GateOpening, isAgentCall } from '#shared/graph/gates/gate-opening.ts';
import { keysReadBy } from '#shared/graph/read-keys.ts';
import { nodeLabel } from '#shared/graph/compile.ts';
import { renderTemplate } from '#shared/graph/expression/template.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';
import { settingsOf } from '#shared/graph/gates/gate-settings.ts';
import { renderTitle } from '#shared/graph/gates/title.ts';
import { refusal } from '#shared/graph/gates/rejection.ts';
import { readDecision, readResumed } from '#workflows/received.ts';
import { applyCallDecision } from './agents.ts';
import { control } from './control.ts';
import { catchFailure, fail, failedStep, text } from './failures.ts';
import { startClocks, stopClock } from './gate-clocks.ts';
import type { DecidedGate } from './open-gates.ts';
import { handleNotices, lookAtAll } from './notices.ts';
import { noteHandled, noteKnown, pendingWrites, type Run, wake } from './state.ts';
import { show } from './status.ts';

const decisionSignal = defineSignal<[unknown]>(SIGNAL_DECISION);
const resumedSignal = defineSignal<[unknown]>(SIGNAL_RESUMED);

/** Starts to handle decisions, resumes, and notices about children and waits. */
export function handleSignals(run: Run): void {
  handleNotices(run, SIGNAL_CHILD, run.children);
  handleNotices(run, SIGNAL_WAITED, run.waits);
  // Ignored, because Postgres has every decision, and returns it when the run pauses again.
  const ignored = (signal: string): void => log.warn('ignored a malformed signal', { signal });
  setHandler(decisionSignal, (message) => {
    run.pace.arrived();
    const decision = readDecision(message);
    if (decision === undefined) {
      ignored(SIGNAL_DECISION);
      return;
    }
    run.gates.learn(decision);
    wake(run);
  });
  setHandler(resumedSignal, (message) => {
    run.pace.arrived();
    const decisions = readResumed(message);
    if (decisions === undefined) {
      ignored(SIGNAL_RESUMED);
      return;
    }
    for (const decision of decisions) {
      if (decision === undefined) ignored(SIGNAL_RESUMED);
      else run.gates.learn(decision);
    }
    lookAtAll(run.children);
    lookAtAll(run.waits);
    lookAtAll({ open: run.queued.open, stale: run.waits.stale });
    // After a reset, the results of these can be from before it: one that says to wait is tried again.
    for (const stepKey of run.inFlight) run.queued.early.add(stepKey);
    // The ledger may contain more than the history after a reset, so the run's position is written again.
    run.atRest = false;
    wake(run);
  });
}

export function reachGate(run: Run, step: ReadyNode, node: GateNode): void {
  let prompt;
  try {
    const rendered = renderTemplate(node.prompt, run.scheduler.state(step.step_key));
    prompt = typeof rendered === 'string' ? rendered : JSON.stringify(rendered);
  } catch (error) {
    fail(run, step, text(error), 'node', error);
    return;
  }
  const { step_key, iteration } = step;
  const fails = !run.input.graph.edges.some(
    (edge) => edge.source === node.id && edge.condition_value === 'false',
  );
  const rejection = {
    fails_on_reject: fails,
    ...(run.scheduler.catches(step_key) ? { caught_on_reject: true } : {}),
  };
  const place = { step_key, node_id: node.id, label: nodeLabel(node), iteration };
  const title =
    node.title === undefined
      ? undefined
      : renderTitle(node.title, run.scheduler.state(step.step_key));
  // A rehearsal waits for no one.
  const settings = run.input.rehearsal === undefined ? settingsOf(node) : undefined;
  const asks = settings === undefined ? {} : { settings };
  run.gates.reach(step, {
    ...{ ...place, prompt, ...rejection, ...asks },
    ...(title === undefined ? {} : { title }),
  });
  // It may already be open, with a deadline before the run is idle again.
  if (run.input.carried !== undefined) startClocks(run, run.gates.openingsOf(step_key));
  run.atRest = false;
  wake(run);
}

/** Continues past the gates that have been decided. Returns whether there were any. */
export function applyDecisions(run: Run): boolean {
  let applied = false;
  while (!run.pace.spent()) {
    const gate = run.gates.takeDecided();
    if (gate === undefined) break;
    applied = true;
    run.atRest = false;
    show(run, 'running');
    const { tool_call: call } = gate.opening;
    if (call !== undefined && isAgentCall(call)) {
      applyCallDecision(run, gate);
      continue;
    }
    stopClock(run, gate.step.step_key);
    if (call === undefined) decide(run, gate);
    else if (gate.decision.approved) run.scheduler.release(gate.step.step_key);
    else reject(run, gate);
  }
  return applied;
}

function decide(run: Run, gate: DecidedGate): void {
  const { step, decision } = gate;
  if (decision.timed_out === 'fail') reject(run, gate);
  else if (run.scheduler.decide(step.step_key, decision) === 'rejected') failRejected(run, gate);
  else if (isInLedger(run, gate)) noteKnown(run, step.step_key);
  else noteHandled(run, step.step_key);
}

/** Whether the decision is in the ledger. */
const isInLedger = ({ ledger }: Run, { opening }: DecidedGate): boolean =>
  ledger?.decisions.some(
    ({ step_key: key, round }) => key === opening.step_key && round === opening.round,
  ) === true;

function reject(run: Run, gate: DecidedGate): void {
  run.scheduler.fail(gate.step.step_key);
  failRejected(run, gate);
}

/** The failure of a gate, or of a step that was not approved. */
function failRejected(run: Run, gate: DecidedGate): void {
  const { step, opening, decision } = gate;
  const error = refusal(opening.label, { ...decision, round: opening.round });
  if (catchFailure(run, step.step_key, error)) return;
  run.gates.reopen(gate);
  const reason = error.kind === 'timeout' ? 'node' : 'rejected';
  run.failures.set(step.step_key, {
    step: failedStep(run.scheduler, step, error.message, reason),
  });
}

/** What follows from the answers to the gates. */
function around(run: Run, gates: readonly GateOpening[]): Pick<PauseCall, 'situation'> {
  if (run.input.rehearsal !== undefined || gates.length === 0) return {};
  run.keysRead ??= new Set(run.input.graph.nodes.flatMap(keysReadBy));
  return {
    situation: run.scheduler.situation(
      gates.map(({ step_key }) => askedStep(step_key)),
      run.keysRead,
    ),
  };
}

/** Pauses the run when nothing is in flight and gates are open. Returns whether there is work to continue with. */
export async function rest(run: Run): Promise<boolean> {
  const gates = run.gates.openings();
  const waits = run.waits.open.size + run.queued.open.size;
  // Children and waits alone do not pause a run.
  if (gates.length === 0 && waits > 0) return restAtWaits(run);
  if (gates.length === 0 && run.children.open.size > 0) return flush(run);
  if (run.atRest) return false;
  run.atRest = true;
  const result = await control.pauseAtGates({
    ...pendingWrites(run),
    gates,
    ...around(run, gates),
  });
  result.decisions.forEach(run.gates.learn);
  startClocks(run, gates);
  if (result.decisions.length > 0) return true;
  show(
    run,
    'paused',
    gates.map((gate) => `Paused at gate **${gate.label}**: ${gate.prompt}`).join('\n\n'),
  );
  return run.woken;
}

/** Has the time from now on counted as waiting. */
async function restAtWaits(run: Run): Promise<boolean> {
  if (run.atRest) return flush(run);
  run.atRest = true;
  await control.recordControlSteps({ ...pendingWrites(run), at_rest: true });
  return run.woken;
}

/** Writes control steps that no call carries while the run waits. */
export async function flush(run: Run): Promise<boolean> {
  if (run.scheduler.controlSteps > 0) await control.recordControlSteps(pendingWrites(run));
  return run.woken;
}
