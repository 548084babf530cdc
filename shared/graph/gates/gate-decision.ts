import type { JsonObject } from '#shared/json.ts';

/**
 * A person's decision at a gate: one type from the request to the workflow. The project only compiles when a new field
 * is also added to the contract's schema, the columns of `gates` and the validation of the signal.
 */
export interface GateAnswer {
  approved: boolean;
  /** Merged into the top level of the run's state. */
  input?: JsonObject;
  /** Not empty. */
  reason?: string;
}

/** Which open gate of a run to decide. By default, the one that has been open longest. */
export interface GateChoice {
  nodeId?: string;
  /** One iteration of a gate inside a loop. */
  stepKey?: string;
}

/** The decision in one round of a gate. Idempotent by `(step_key, round)`: the first one counts. */
export interface GateDecision extends GateAnswer {
  step_key: string;
  round: number;
  /** The deadline decided it: the run fails instead of following the gate's edges. */
  timed_out?: 'fail';
}

/** Removes null fields, because Postgres and signals may contain null where a decision has no field. */
export function withoutNulls<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<Fields>;
}
