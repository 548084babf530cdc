import { defineSignal, log, setHandler } from '@temporalio/workflow';
import { readStepSignal } from '#workflows/received.ts';
import { type Run, wake } from './state.ts';

/**
 * Signals that something has happened to what a step waits for. What happened is in Postgres, and is read
 * before the execution acts on it.
 */

/** Steps that wait by their keys, and those of them whose rows must be read. */
interface Open {
  open: ReadonlyMap<string, unknown>;
  stale: Set<string>;
}

/** Starts to handle the signals about steps of one kind. */
export function handleNotices(run: Run, signal: string, { stale }: Open): void {
  setHandler(defineSignal<[unknown]>(signal), (message) => {
    run.pace.arrived();
    const stepKey = readStepSignal(message);
    if (stepKey === undefined) {
      // Ignored, because the row of the step is in Postgres.
      log.warn('ignored a malformed signal', { signal });
      return;
    }
    stale.add(stepKey);
    wake(run);
  });
}

/** Reads the rows of all steps, because this run was resumed and signals may be missing from its history. */
export function lookAtAll({ open, stale }: Open): void {
  for (const stepKey of open.keys()) stale.add(stepKey);
}
