import type { Triggered } from '../../shared/operations/runs/runs.ts';

/**
 * Events that this process is admitting at the moment. Impatient senders send copies of an event at once. The database
 * tells them apart whatever happens here, but each copy would cost it an admission; so copies wait for the first. When
 * that one is refused, each is admitted or refused by itself.
 */
export interface EventFlights {
  /** What `admit` comes to, or the run of the same event that was being admitted already. */
  board(event: string, admit: () => Promise<Triggered>): Promise<Triggered>;
}

export function createEventFlights(): EventFlights {
  const underWay = new Map<string, Promise<Triggered | undefined>>();
  return {
    board: async (event, admit) => {
      const flight = underWay.get(event);
      if (flight !== undefined) {
        const first = await flight;
        return first === undefined ? admit() : { runId: first.runId, told: Promise.resolve(true) };
      }
      const admission = admit();
      const landed = admission.catch(() => undefined).finally(() => underWay.delete(event));
      underWay.set(event, landed);
      return admission;
    },
  };
}
