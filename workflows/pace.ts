import { sleep, workflowInfo } from '@temporalio/workflow';
import { SMALL_WORK } from '../shared/graph/work-budget.ts';

/**
 * Sees to it that no workflow task of a run computes for long: the thread it is on computes those of other runs, too.
 * Once a task has done its share, the run takes a timer and goes on in the next one.
 */
export interface Pace {
  /** Adds what was done beside expressions, in units of a WorkBudget. */
  add: (units: number) => void;
  /** Whether this workflow task has done its share. To be asked before each piece of work. */
  spent: () => boolean;
  /** Undefined while this workflow task may go on; else a promise for the next one. */
  pause: () => Promise<void> | undefined;
}

/** `done` tells the units that expressions have used since the run began. */
export function createPace(done: () => number): Pace {
  // What the beginning of the run computed is this first task's.
  let task = workflowInfo().historyLength;
  let atStart = 0;
  let added = 0;
  function spent(): boolean {
    // Grows with every workflow task, and is the same again on a replay.
    const { historyLength } = workflowInfo();
    const total = done() + added;
    if (historyLength !== task) {
      task = historyLength;
      atStart = total;
    }
    return total - atStart >= SMALL_WORK;
  }
  return {
    add: (units) => {
      added += units;
    },
    spent,
    pause: () => (spent() ? sleep(1) : undefined),
  };
}

/** For executions that began before there was a pace: their histories hold no such timers. */
export const unhurried: Pace = {
  add: () => undefined,
  spent: () => false,
  pause: () => undefined,
};
