import type { Config } from '#shared/platform/config.ts';
import type { Logger } from '#shared/platform/logger.ts';

export interface Loop {
  /** Resolves when the current iteration, if any, has ended. */
  stop(): Promise<void>;
}

/**
 * Iterates until stopped, with a pause in between unless `look` returns that there is more to do. A failed iteration is
 * logged, and the next one retries.
 */
export function startLoop(
  {
    name,
    config,
    log,
    everyMs = config.reconcile.intervalMs,
  }: { name: string; config: Config; log: Logger; everyMs?: number },
  look: () => Promise<boolean>,
): Loop {
  const stopping = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if (await look()) continue;
      } catch (error) {
        log.error({ err: error, loop: name }, `${name} failed; will try again`);
      }
      await pause(everyMs, stopping.signal);
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
  });
}
