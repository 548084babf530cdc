import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/logger.ts';

export interface Loop {
  /** Resolves when the look under way, if any, is over. */
  stop(): Promise<void>;
}

/**
 * Looks again and again until stopped, with a pause in between unless `look` says that there is more to do. A look
 * that fails is logged and the next one tries again.
 */
export function startLoop(
  { name, config, log }: { name: string; config: Config; log: Logger },
  look: () => Promise<boolean>,
): Loop {
  const stopping = new AbortController();
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        if (await look()) continue;
      } catch (error) {
        log.error({ err: error, loop: name }, `${name} failed; will look again`);
      }
      await pause(config.reconcile.intervalMs, stopping.signal);
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
