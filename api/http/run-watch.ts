import { setTimeout as sleep } from 'node:timers/promises';
import type { RunStatus } from '#shared/contract/runs/run.ts';
import type { Db } from '#shared/db/pool.ts';
import { readRunStatus } from '#shared/db/runs/runs.ts';

const FIRST_LOOK_MS = 40;
const LAST_LOOK_MS = 500;
/** The maximum number of waiting callers. Further ones get their response immediately. */
const MAX_WAITING = 100;

let waiting = 0;

/**
 * Resolves when the run has ended or waits at a gate, when `waitMs` have passed, when too many callers are waiting, or
 * when the signal is aborted. The caller then reads the run.
 */
export async function waitUntilIdle(
  db: Db,
  run: { workspaceId: string; runId: string },
  wait: { waitMs: number; signal: AbortSignal },
): Promise<void> {
  if (waiting >= MAX_WAITING) return;
  waiting += 1;
  try {
    const end = performance.now() + wait.waitMs;
    for (
      let pause = FIRST_LOOK_MS;
      !wait.signal.aborted;
      pause = Math.min(pause * 1.5, LAST_LOOK_MS)
    ) {
      const left = end - performance.now();
      if (left <= 0 || isAtRest(await readRunStatus(db, run))) return;
      await sleep(Math.min(pause, left), undefined, { signal: wait.signal }).catch(() => undefined);
    }
  } finally {
    waiting -= 1;
  }
}

const isAtRest = (status: RunStatus | undefined): boolean =>
  status !== 'pending' && status !== 'running';
