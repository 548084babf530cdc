import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { FAILURE_OVERFLOWS, type StepActivities } from '#shared/execution.ts';

/**
 * Shares a worker's slots for steps between workspaces. A workspace can hold as many slots as are free, and at least
 * one. So a single workspace holds at most half, two hold at most a third each, and some slots are always free for the
 * next.
 */
export interface StepShares {
  /**
   * Takes a slot and returns a function that releases it, which must be called once. Undefined when the workspace holds
   * its share. `always`: takes it in any case.
   */
  take: (workspaceId: string, options: { always: boolean }) => (() => void) | undefined;
  /** Whether a workspace that is not among these has had a step here within so many milliseconds. */
  busyBeside: (workspaceIds: ReadonlySet<string>, withinMs: number) => boolean;
}

/** `slots`: the number of concurrent steps of the worker. */
export function createStepShares(slots: number): StepShares {
  const held = new Map<string, number>();
  /** When steps of a workspace last began or ended, the latest at the end. */
  const latest = new Map<string, number>();
  let taken = 0;
  const note = (workspaceId: string): void => {
    latest.delete(workspaceId);
    latest.set(workspaceId, performance.now());
  };
  return {
    take: (workspaceId, { always }) => {
      const own = held.get(workspaceId) ?? 0;
      if (!always && own >= Math.max(1, slots - taken)) return undefined;
      held.set(workspaceId, own + 1);
      taken += 1;
      note(workspaceId);
      return () => {
        note(workspaceId);
        taken -= 1;
        const rest = (held.get(workspaceId) ?? 1) - 1;
        if (rest === 0) held.delete(workspaceId);
        else held.set(workspaceId, rest);
      };
    },
    busyBeside: (workspaceIds, withinMs) => {
      const since = performance.now() - withinMs;
      for (const [workspaceId, at] of latest) {
        if (at >= since) break;
        latest.delete(workspaceId);
      }
      for (const workspaceId of latest.keys()) {
        if (!workspaceIds.has(workspaceId)) return true;
      }
      return false;
    },
  };
}

/** Refuses steps beyond their workspace's share with FAILURE_OVERFLOWS, before any of their work has begun. */
export function withinShare(
  shares: StepShares,
  execute: StepActivities['executeNode'],
): StepActivities['executeNode'] {
  return async (call) => {
    const release = shares.take(call.workspace_id, { always: call.may_overflow !== true });
    if (release === undefined) throw overflows();
    try {
      return await execute(call);
    } finally {
      release();
    }
  };
}

/** Benign: the step continues, so this failure is not logged. */
const overflows = (): ApplicationFailure =>
  ApplicationFailure.create({
    message:
      'Continues in the overflow queue: its workspace has its share of the steps on this worker',
    type: FAILURE_OVERFLOWS,
    nonRetryable: true,
    category: ApplicationFailureCategory.BENIGN,
  });
