import type { JsonObject } from './json.ts';

/**
 * What a person says at a gate: one type from the request to the workflow. A field that is added here has to be added to
 * the contract's schema, to the columns of `gates` and to the check of the signal before the project compiles.
 */
export interface GateAnswer {
  approved: boolean;
  /** Merged into the top level of the run's state. */
  input?: JsonObject;
  /** Never empty. */
  reason?: string;
}

/** Which open gate of a run is answered. With neither field: the one that has been open longest. */
export interface GateChoice {
  nodeId?: string;
  /** One round of a gate inside a loop. */
  stepKey?: string;
}

/** The answer at one round of a gate. Idempotent by `(step_key, round)`: the first one stands. */
export interface GateDecision extends GateAnswer {
  step_key: string;
  round: number;
}

/** A decision as Postgres or a signal holds it, where an absent field may be null. */
export function withoutNulls<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<Fields>;
}
