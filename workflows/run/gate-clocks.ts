import { CancellationScope, isCancellation, log, sleep } from '@temporalio/workflow';
import { hasClock } from '#shared/graph/gates/gate-settings.ts';
import type { GateOpening } from '#shared/graph/gates/gate-opening.ts';
import { callBeside } from './control.ts';
import { type GateClock, handleResult, type Run, wake } from './state.ts';
import { summaryOf } from './step-call.ts';

/** Starts a clock for each gate that needs one and has none. Call it when the gates are open. */
export function startClocks(run: Run, openings: readonly GateOpening[]): void {
  for (const opening of openings) {
    if (!hasClock(opening.settings)) continue;
    const clock = run.clocks.get(opening.step_key);
    if (clock?.opening.round === opening.round) {
      clock.again = true;
      continue;
    }
    stopClock(run, opening.step_key);
    const started = { opening, again: false, timer: undefined };
    run.clocks.set(opening.step_key, started);
    look(run, started);
  }
}

/** Ends the clock of a decided gate. */
export function stopClock(run: Run, stepKey: string): void {
  run.clocks.get(stepKey)?.timer?.cancel();
  run.clocks.delete(stepKey);
}

const isCurrent = (run: Run, clock: GateClock): boolean =>
  run.clocks.get(clock.opening.step_key) === clock;

function look(run: Run, clock: GateClock): void {
  clock.again = false;
  const { step_key, round } = clock.opening;
  callBeside(
    run,
    (activities) => activities.checkGate({ run_id: run.input.run_id, step_key, round }),
    ({ decision, wait_ms: ms }) => {
      if (!isCurrent(run, clock)) return;
      if (decision !== undefined) {
        run.clocks.delete(step_key);
        run.gates.learn(decision);
        wake(run);
      } else if (ms !== undefined) wait(run, clock, ms);
      else if (clock.again) look(run, clock);
      else run.clocks.delete(step_key);
    },
    ignoreCancel,
  );
}

function wait(run: Run, clock: GateClock, ms: number): void {
  const scope = new CancellationScope();
  clock.timer = scope;
  scope
    .run(() => sleep(ms, { summary: summaryOf(`Gate ${clock.opening.label}`) }))
    .then(() => {
      run.pace.arrived();
      handleResult(run, () => {
        clock.timer = undefined;
        if (isCurrent(run, clock)) look(run, clock);
      });
    }, ignoreCancel);
}

/** Ignores a cancel of the run, or of the timer of a decided gate. */
function ignoreCancel(error: unknown): void {
  if (!isCancellation(error)) log.warn('a gate has no clock', { error: String(error) });
}
