import { notifyFrames } from '#shared/db/runs/frames.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';

export interface FrameNotifier {
  /** Wakes the streams of a run after a short delay. Call it after the commit that wrote the frames. */
  wake(runId: string): void;
  /** Like `wake`, but immediately, for a run that paused or ended. */
  wakeNow(runId: string): void;
  /** Resolves when nothing is in progress. */
  close(): Promise<void>;
}

/**
 * Too short to notice, and long enough to wake streams for several short steps at once: each wake-up is one statement
 * here and one in every API process.
 */
const COLLECT_MS = 50;

/**
 * Wakes the streams of many runs with few statements: runs are collected for a moment, and while a NOTIFY is in
 * progress, for the next one. A lost NOTIFY delays a stream by at most a second, because readers also poll.
 */
export function createFrameNotifier(db: Pool, log: Logger): FrameNotifier {
  const waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> | undefined;

  async function drain(): Promise<void> {
    while (waiting.size > 0) {
      const runIds = [...waiting];
      waiting.clear();
      try {
        await notifyFrames(db, runIds);
      } catch (error) {
        log.warn({ err: error }, 'could not wake run streams');
      }
    }
    sending = undefined;
  }

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    sending ??= drain();
  }

  return {
    wake: (runId) => {
      waiting.add(runId);
      if (sending === undefined) timer ??= setTimeout(send, COLLECT_MS);
    },
    wakeNow: (runId) => {
      waiting.add(runId);
      send();
    },
    close: async () => {
      send();
      await sending;
    },
  };
}
