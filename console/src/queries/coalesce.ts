/**
 * Makes one act of many requests for it: the first is carried out at once, those that come meanwhile or within
 * `everyMs` of its beginning by one more, afterwards. Never two at a time. `stop` forgets what was asked for.
 */
export function coalesce(
  act: () => Promise<unknown>,
  everyMs: number,
): { ask: () => void; stop: () => void } {
  let wanted = false;
  let busy = false;
  let stopped = false;

  async function carryOut(): Promise<void> {
    busy = true;
    while (wanted && !stopped) {
      wanted = false;
      const rest = new Promise((resolve) => setTimeout(resolve, everyMs));
      // Whoever shows what is read shows as well why it could not be.
      await act().catch(() => undefined);
      await rest;
    }
    busy = false;
  }

  return {
    ask: () => {
      wanted = true;
      if (!busy) void carryOut();
    },
    stop: () => {
      stopped = true;
    },
  };
}
