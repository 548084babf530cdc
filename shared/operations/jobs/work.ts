import type { RunningJob } from '#shared/db/jobs/jobs.ts';
import type { Tx } from '#shared/db/pool.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';

/** One kind of background job. */
export interface JobWork {
  /** The number of items. `onBatch` is called between statements, and throws to stop. */
  count(deps: RunDeps, job: RunningJob, onBatch: () => void): Promise<number>;
  /**
   * The page at the job's position. It may be repeated: only `keep` writes, in the transaction that stores the new
   * position.
   */
  page(deps: RunDeps, job: RunningJob, signal: AbortSignal): Promise<JobPage>;
}

export interface JobPage {
  /** Where the next page begins; null after the last page. */
  position: Json;
  items: number;
  /** The result of the whole job, including this page. */
  result: JsonObject;
  keep: (tx: Tx) => Promise<void>;
}
