import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The effects that the current code may have outside the service. A rehearsal may have none, except in a step that its
 * request allows by name. Enforced where effects leave: by the egress guard, and where data records are written.
 */
export interface Effects {
  /** Whether requests may be sent. */
  requests: boolean;
  /** Allows only requests with this method. */
  method?: string;
}

const current = new AsyncLocalStorage<Effects>();

/** Runs `work` with only these effects allowed. Data records cannot be written. */
export const withEffects = <T>(effects: Effects, work: () => T): T => current.run(effects, work);

/** Why a request must not be sent; undefined when it may be sent. */
export function requestRefusal(method: string): string | undefined {
  const effects = current.getStore();
  if (effects === undefined) return undefined;
  const allowed = effects.requests && (effects.method ?? method) === method;
  return allowed ? undefined : `A rehearsal sends no ${method} request`;
}

/** Throws in a rehearsal. */
export function requireRecordWrites(): void {
  if (current.getStore() !== undefined) {
    throw new Error('A rehearsal writes no data records or events');
  }
}
