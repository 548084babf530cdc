import type { Triggered } from '#shared/operations/runs/runs.ts';

/**
 * Events that this process is admitting now. Senders may send copies of an event at the same time. The database
 * deduplicates them in any case, but each copy would cost an admission, so copies wait for the first. If the first is
 * refused, each copy is admitted or refused separately.
 */
export interface SingleFlight {
  /** The result of `admit`, or the run of the same event that is already being admitted. */
  board(event: string, admit: () => Promise<Triggered>): Promise<Triggered>;
}

export function createSingleFlight(): SingleFlight {
  const pending = new Map<string, Promise<Triggered | undefined>>();
  return {
    board: async (event, admit) => {
      const flight = pending.get(event);
      if (flight !== undefined) {
        const first = await flight;
        return first === undefined
          ? admit()
          : { runId: first.runId, dispatched: Promise.resolve(true) };
      }
      const admission = admit();
      const landed = admission.catch(() => undefined).finally(() => pending.delete(event));
      pending.set(event, landed);
      return admission;
    },
  };
}
