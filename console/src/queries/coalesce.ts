/**
 * Coalesces requests for an action: it runs immediately for the first, and once more for all that arrive while it runs
 * or within `everyMs` of its start. Never runs twice at a time. `stop` drops the pending request.
 */
export function coalesce(
  action: () => Promise<unknown>,
  everyMs: number,
): { ask: () => void; stop: () => void } {
  let wanted = false;
  let busy = false;
  let stopped = false;

  async function runBatch(): Promise<void> {
    busy = true;
    while (wanted && !stopped) {
      wanted = false;
      const rest = new Promise((resolve) => setTimeout(resolve, everyMs));
      // The component that shows the data also shows its error.
      await action().catch(() => undefined);
      await rest;
    }
    busy = false;
  }

  return {
    ask: () => {
      wanted = true;
      if (!busy) void runBatch();
    },
    stop: () => {
      stopped = true;
    },
  };
}
