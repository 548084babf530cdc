import { sleep, workflowInfo } from '@temporalio/workflow';
import type { WorkedSpan } from '#shared/execution.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';

/**
 * How long a run pauses for each share of a workflow task that it has used, so that other runs get most of the worker's
 * time.
 */
const PAUSE_MS = 100;

/**
 * A workflow task dispatches no short steps after this time, because events that have arrived wait until the task ends.
 */
const SHORT_TASK_MS = 100;

/**
 * Keeps workflow tasks short, because the same thread computes the tasks of other runs, and decisions and cancels
 * arrive with the next task. When a task has used its share, the run starts a timer and then continues.
 */
export interface Pace {
  /** Adds work other than expressions, in units of a WorkBudget. */
  add: (units: number) => void;
  /** Adds a short step that this workflow task waited for. */
  worked: (span: WorkedSpan) => void;
  /** Records that something arrived that only a new workflow task brings. */
  arrived: () => void;
  /** Whether this workflow task has used its share. Check before each piece of work. */
  spent: () => boolean;
  /** Undefined while this workflow task can continue to compute; otherwise a promise for the next task. */
  pause: () => Promise<void> | undefined;
  /** Like `pause`, for dispatching a short step, which this workflow task would have to wait for. */
  pauseForShort: () => Promise<void> | undefined;
}

/**
 * `done` returns the units that expressions have used since the run started. Decisions only use what is in the history,
 * so that a replay makes the same ones; durations by the worker's clock are part of the results. A task counts as new
 * only when something arrives with it, because a replay skips tasks that only keep local activities alive.
 */
export function createPace(done: () => number): Pace {
  // The work at the start of the run belongs to this first task.
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
  const used = (): number => done() + added - atStart;
  const spent = (): boolean => used() >= SMALL_WORK;
  const next = (ms: number): Promise<void> => sleep(ms).then(arrived);
  const rest = (): Promise<void> => next(PAUSE_MS * Math.floor(used() / SMALL_WORK));
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
    pause: () => (spent() ? rest() : undefined),
    pauseForShort: () => {
      if (spent()) return rest();
      return lastEnd - firstStart >= SHORT_TASK_MS ? next(1) : undefined;
    },
  };
}
