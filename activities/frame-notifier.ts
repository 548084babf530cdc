import { notifyFrames } from '../shared/db/runs/frames.ts';
import type { Pool } from '../shared/db/pool.ts';
import type { Logger } from '../shared/platform/logger.ts';

export interface FrameNotifier {
  /** Wakes the streams of a run soon. Call it after the commit that wrote the frames. */
  wake(runId: string): void;
  /** The same at once, for what somebody waits for: a run that paused or ended. */
  wakeNow(runId: string): void;
  /** Resolves when nothing is under way. */
  close(): Promise<void>;
}

/**
 * Sooner than anybody sees, and long enough that short steps wake the streams together: each waking is a statement
 * here and one in every API process.
 */
const COLLECT_MS = 50;

/**
 * Wakes streams for many runs with few statements: runs collect for a moment, and while one NOTIFY is under way
 * for the next. Losing one costs a stream at most a second, since readers also look by themselves.
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
