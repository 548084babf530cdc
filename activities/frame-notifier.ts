import { notifyFrames } from '../shared/db/frames.ts';
import type { Pool } from '../shared/db/pool.ts';
import type { Logger } from '../shared/platform/logger.ts';

export interface FrameNotifier {
  /** Wakes the streams of a run soon. Call it after the commit that wrote the frames. */
  wake(runId: string): void;
  /** Resolves when nothing is under way. */
  close(): Promise<void>;
}

/**
 * Wakes streams for many runs with few statements: while one NOTIFY is under way, further runs collect for the
 * next. Losing one costs a stream at most a second, since readers also look by themselves.
 */
export function createFrameNotifier(db: Pool, log: Logger): FrameNotifier {
  const waiting = new Set<string>();
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

  return {
    wake: (runId) => {
      waiting.add(runId);
      sending ??= drain();
    },
    close: async () => sending,
  };
}
