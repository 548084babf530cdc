/** What the sweep's workflow and its activity pass to each other. */

export interface SweepProgress {
  done: SweepTotals;
  /** The counts of this iteration, as in SweepPart, and the number of iterations that left work. */
  waiting: number;
  failed: number;
  waits: number;
  after?: string;
}

export interface SweepTotals {
  /** Active runs past their window that were cancelled, to be deleted once they have ended. */
  cancelled: number;
  runs: number;
  audit: number;
  payloads: number;
}

export interface SweepCall {
  /** The last completed workspace. */
  after?: string;
}

export interface SweepPart extends SweepTotals {
  /** Where the next call continues; absent when every workspace is done. */
  after?: string;
  /** Runs that could not be deleted yet because their executions are about to end. */
  waiting: number;
  /** Workspaces that could not be swept. */
  failed: number;
}
