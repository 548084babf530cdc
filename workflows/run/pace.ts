import { sleep, workflowInfo } from '@temporalio/workflow';
import type { WorkedSpan } from '../../shared/execution.ts';
import { SMALL_WORK } from '../../shared/values/work-budget.ts';

/** How long a run pauses that has computed its share of a workflow task, so that others get most of the worker's time. */
const PAUSE_MS = 100;

/** A workflow task dispatches no more short steps after this long: what arrived meanwhile waits for its end. */
const SHORT_TASK_MS = 100;

/**
 * Sees to it that no workflow task of a run takes long: the thread it is on computes those of other runs, and a
 * decision or a cancel is heard of in the next one. Once a task has done its share, the run takes a timer and goes on.
 */
export interface Pace {
  /** Adds what was done beside expressions, in units of a WorkBudget. */
  add: (units: number) => void;
  /** Adds a short step that this workflow task waited for. */
  worked: (span: WorkedSpan) => void;
  /** Something arrived that only a workflow task brings. */
  arrived: () => void;
  /** Whether this workflow task has computed its share. To be asked before each piece of work. */
  spent: () => boolean;
  /** Undefined while this workflow task may go on to compute; else a promise for the next one. */
  pause: () => Promise<void> | undefined;
  /** The same of dispatching a short step, which this workflow task would have to wait for. */
  pauseForShort: () => Promise<void> | undefined;
}

/**
 * `done` tells the units that expressions have used since the run began. Everything is decided by what the history
 * holds, so that a replay decides the same: spans by the worker's clock are part of the results. A task is taken for
 * a new one only when something arrives with it, since a replay passes over the tasks that only keep local activities
 * alive; `byLength`: whenever the history has grown, as in executions without short steps.
 */
export function createPace(done: () => number, { byLength }: { byLength: boolean }): Pace {
  // What the beginning of the run computed is this first task's.
  let task = workflowInfo().historyLength;
  let atStart = 0;
  let added = 0;
  let firstStart = Infinity;
  let lastEnd = -Infinity;
  function arrived(): void {
    const { historyLength } = workflowInfo();
    if (historyLength === task) return;
    task = historyLength;
    atStart = done() + added;
    firstStart = Infinity;
    lastEnd = -Infinity;
  }
  function spent(): boolean {
    if (byLength) arrived();
    return done() + added - atStart >= SMALL_WORK;
  }
  const next = (ms: number): Promise<void> => sleep(ms).then(arrived);
  return {
    add: (units) => {
      added += units;
    },
    worked: ({ started_ms, ended_ms }) => {
      firstStart = Math.min(firstStart, started_ms);
      lastEnd = Math.max(lastEnd, ended_ms);
    },
    arrived,
    spent,
    pause: () => {
      if (!spent()) return undefined;
      return byLength ? sleep(1) : next(PAUSE_MS);
    },
    pauseForShort: () => {
      if (spent()) return next(PAUSE_MS);
      return lastEnd - firstStart >= SHORT_TASK_MS ? next(1) : undefined;
    },
  };
}

/** For executions that began before there was a pace: their histories hold no such timers. */
export const unhurried: Pace = {
  add: () => undefined,
  worked: () => undefined,
  arrived: () => undefined,
  spent: () => false,
  pause: () => undefined,
  pauseForShort: () => undefined,
};
