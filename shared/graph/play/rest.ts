import { isWait } from '#shared/graph/kinds.ts';
import type { Playing } from './playing.ts';
import { startWait } from './waits.ts';

/** A run with an open gate is paused, and keeps nothing above it from ending. */
const isPaused = (run: Playing): boolean =>
  run.gates.size > 0 && run.inFlight.size === 0 && !hasRunningChildren(run);

export const hasRunningChildren = ({ children }: Playing): boolean =>
  [...children.values()].some((child) => child.end === undefined && !isPaused(child));

/** Ends what is still open in a run that has ended, and below it. */
export function closeRun(run: Playing): void {
  run.finishedAt = run.world.clock.text;
  run.book.close();
  for (const child of run.children.values()) {
    if (child.end !== undefined) continue;
    child.end = { status: 'cancelled' };
    closeRun(child);
  }
}

/** Executes the failed steps of a run again, as a resume does. What was open is open again. */
export function resumeRun(run: Playing): void {
  const { failures, scheduler, gates, waits, children } = run;
  run.end = undefined;
  run.finishedAt = undefined;
  const failed = [...failures.keys()];
  failures.clear();
  for (const key of failed) scheduler.retry(key);
  for (const gate of gates.values()) gate.since = undefined;
  for (const { step } of [...waits.values()]) {
    const node = scheduler.node(step.step_key);
    if (isWait(node)) startWait(run, step, node);
  }
  for (const child of children.values()) if (child.end?.status === 'cancelled') resumeRun(child);
  run.proceed();
}
