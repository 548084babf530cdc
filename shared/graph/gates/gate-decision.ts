import type { JsonObject } from '#shared/json.ts';

/**
 * A person's decision at a gate, in one type from the request to the workflow. The project does not compile until a new
 * field is also added to the contract's schema, the columns of `gates` and the check of the signal.
 */
export interface GateAnswer {
  approved: boolean;
  /** Merged into the top level of the run's state. */
  input?: JsonObject;
  /** Never empty. */
  reason?: string;
}

/** The open gate of a run to decide. Default: the one that has been open longest. */
export interface GateChoice {
  nodeId?: string;
  /** One iteration of a gate inside a loop. */
  stepKey?: string;
}

/** The answer at one round of a gate. Idempotent by `(step_key, round)`: the first one wins. */
export interface GateDecision extends GateAnswer {
  step_key: string;
  round: number;
  /** The deadline decided it: the run does not follow the gate's edges, but fails. */
  timed_out?: 'fail';
}

/** Removes null fields: Postgres and signals may have null where a decision has no field. */
export function withoutNulls<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Partial<Fields>;
}
