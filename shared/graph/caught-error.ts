/**
 * Why a step has failed. `node`: its work; `timeout`: an attempt took too long; `policy`: refused by a policy;
 * `rejected`: a person's decision; `child`: the run or the items that it started.
 */
export const errorKinds = ['node', 'timeout', 'policy', 'rejected', 'child'] as const;
export type ErrorKind = (typeof errorKinds)[number];

/** The error of a failed step, as `{<node id>.error}` behind its error edges. */
export type CaughtError = {
  message: string;
  kind: ErrorKind;
  /** From 1. */
  attempts: number;
};
