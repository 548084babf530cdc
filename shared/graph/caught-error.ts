/**
 * Why a step failed. `node`: its work failed; `timeout`: an attempt took too long; `policy`: a policy refused it;
 * `rejected`: a person rejected it; `child`: the run or the items that it started failed; `connection`: someone has to sign
 * in to a connection.
 */
export const errorKinds = ['node', 'timeout', 'policy', 'rejected', 'child', 'connection'] as const;
export type ErrorKind = (typeof errorKinds)[number];

/** The error of a failed step, which its error edges provide as `{<node id>.error}`. */
export type CaughtError = {
  message: string;
  kind: ErrorKind;
  /** From 1. */
  attempts: number;
};
