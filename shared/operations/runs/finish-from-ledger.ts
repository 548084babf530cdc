import { setImmediate } from 'node:timers/promises';
import { loadLedger, readStartable, UnusableLedgerError } from '#shared/db/runs/restart.ts';
import type { LedgerState } from '#shared/execution.ts';
import type { Pool } from '#shared/db/pool.ts';
import { settleRun } from '#shared/db/runs/settlements.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { createScheduler, laidAt, type Scheduler } from '#shared/graph/schedule/scheduler.ts';
import { JsonText } from '#shared/values/json-text.ts';
import { evaluateStoredChecks } from '#shared/platform/threads/run-checks.ts';

/**
 * Settles a run whose execution is missing although all its steps are done: only its end was lost. Returns false when
 * there is still work to do.
 */
export async function finishFromLedger(db: Pool, runId: string): Promise<boolean> {
  const run = await readStartable(db, runId);
  if (run === undefined) return false;
  const scheduler = createScheduler(compileGraph(run.graph), run.input, undefined, {
    arrivals: laidAt(run.laid),
  });
  const ledger = await usableLedger(db, runId);
  if (ledger === undefined || !(await replay(scheduler, ledger))) return false;
  const call = {
    run_id: runId,
    execution: run.temporalRunId ?? '',
    control: scheduler.takeControlSteps(),
    observed: [],
    output: JSON.stringify(scheduler.output()),
    ...scheduler.endState(),
  };
  const { settled } = await settleRun(db, call, evaluateStoredChecks);
  return settled;
}

/** Undefined: the run ends with the same error that a resume would get. */
async function usableLedger(db: Pool, runId: string): Promise<LedgerState | undefined> {
  try {
    return await loadLedger(db, runId);
  } catch (error) {
    if (error instanceof UnusableLedgerError) return undefined;
    throw error;
  }
}

/** Passes everything in the ledger to the scheduler. Returns whether the run is complete. */
async function replay(scheduler: Scheduler, ledger: LedgerState): Promise<boolean> {
  for (;;) {
    const ready = scheduler.takeReady();
    if (ready.length === 0 && !scheduler.held) return scheduler.done;
    for (const step of ready) {
      // Each completion computes its consequences in place; this lets other work run in between.
      await setImmediate();
      const output = ledger.texts[step.step_key];
      if (output !== undefined) {
        scheduler.complete(step.step_key, new JsonText(output, step.step_key));
        continue;
      }
      const caught = ledger.caught?.[step.step_key];
      if (caught !== undefined) {
        scheduler.fail(step.step_key);
        if (!scheduler.catchFailure(step.step_key, caught)) return false;
        continue;
      }
      const round = ledger.rounds[step.step_key];
      const decision = ledger.decisions.find(
        (candidate) => candidate.step_key === step.step_key && candidate.round === round,
      );
      if (decision === undefined) return false;
      if (scheduler.decide(step.step_key, decision) === 'rejected') return false;
    }
  }
}
