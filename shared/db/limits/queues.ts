import { z } from 'zod';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import { LEASE_MS, type OutboxRow, outboxRow } from '#shared/db/runs/outbox.ts';

/** The queues of runs that wait because of a limit: one per workflow and key, of slots or of the rate. */

/** One of the keys is null. */
export interface Queue {
  workflow_id: string;
  key: string | null;
  rate_key: string | null;
}

const queueRow = z.object({
  workflow_id: z.string(),
  key: z.string().nullable(),
  rate_key: z.string().nullable(),
});

/** How soon a run that has ended or paused, but whose steps have a claim, is looked at again, in ms. */
const LOOK_MS = 100;

const startedRow = outboxRow.extend({ waited_seconds: z.number() });

/**
 * Starts what the limits let start of a queue, and returns the messages to Temporal, leased to the caller, with how long
 * each run has waited.
 */
export const advanceQueue = (
  db: Db,
  { workflow_id, key, rate_key }: Queue,
): Promise<readonly (OutboxRow & { waited_seconds: number })[]> =>
  // The places are those before the call, in which they still wait.
  db.any(statement(startedRow)`
    SELECT a.id, a.run_id, a.kind, a.payload, a.attempts,
           coalesce(extract(epoch FROM clock_timestamp() - p.queued_at), 0)::float8 AS waited_seconds
    FROM advance_queue_1(workflow => ${workflow_id}, slot_key => ${key}, token_key => ${rate_key}, lease_ms => ${LEASE_MS},
                         look_ms => ${LOOK_MS}) AS a
    LEFT JOIN run_places p ON p.run_id = a.run_id
  `);

/** The queue whose slot a run that has ended or paused leaves; null if it had none. */
export const leftQueue = (db: Db, runId: string): Promise<Queue | null> =>
  db.maybeOne(statement(queueRow)`
    SELECT workflow_id, key, NULL AS rate_key FROM run_places WHERE run_id = ${runId} AND state IN ('leaving', 'pausing')
  `);

/** Queues with a slot that may have become free, or of a rate that lets the next run start. Workspaces take turns. */
export const dueQueues = (db: Db, limit: number): Promise<readonly Queue[]> =>
  db.any(statement(queueRow)`
    SELECT workflow_id, key, rate_key FROM (
      SELECT workflow_id, key, rate_key, row_number() OVER (PARTITION BY workspace_id ORDER BY due_at) AS turn
      FROM (
        SELECT workspace_id, workflow_id, key, NULL AS rate_key, min(due_at) AS due_at
        FROM run_places WHERE state IN ('leaving', 'pausing') AND due_at <= clock_timestamp()
        GROUP BY workspace_id, workflow_id, key
        UNION ALL
        SELECT workspace_id, workflow_id, NULL, key, due_at FROM rate_queues WHERE due_at <= clock_timestamp()
      ) AS due
    ) AS queues
    ORDER BY turn LIMIT ${limit}
  `);

/**
 * Queues in which runs wait although a slot is free, for example because a limit was raised. Finds nothing while all ends
 * of runs were looked at.
 */
export const stuckQueues = (db: Db, limit: number): Promise<readonly Queue[]> =>
  db.any(statement(queueRow)`
    SELECT q.workflow_id, q.key, NULL AS rate_key
    FROM (
      SELECT DISTINCT workspace_id, workflow_id, key FROM run_places WHERE state = 'waiting' AND key IS NOT NULL
    ) AS q
    JOIN workflow_limits l ON l.workflow_id = q.workflow_id
    WHERE coalesce((l.settings -> 'concurrency' ->> 'limit')::integer, 2147483647) > (
      SELECT count(*) FROM run_places p WHERE p.workflow_id = q.workflow_id AND p.key = q.key AND p.state IN ('holding', 'leaving', 'pausing'))
    ORDER BY row_number() OVER (PARTITION BY q.workspace_id ORDER BY q.workflow_id, q.key) LIMIT ${limit}
  `);

const deletedRow = z.object({ deleted: z.number() });

/** Deletes starts that no window of a rate contains any more. */
export const deleteOldTokens = (db: Db): Promise<number> =>
  db.oneFirst(statement(deletedRow)`
    WITH gone AS (DELETE FROM rate_tokens WHERE taken_at < now() - interval '1 day' RETURNING 1)
    SELECT count(*) AS deleted FROM gone
  `);

const supersededRow = z.object({ id: z.string(), workspace_id: z.string() });

/**
 * Open runs of a key that have to give way to newer ones, because its limit cancels runs in flight: all but the newest so
 * many. Without a key: of all queues in which a run waits.
 */
export const supersededRuns = (
  db: Db,
  limit: number,
  queue?: Pick<Queue, 'workflow_id' | 'key'>,
): Promise<readonly z.infer<typeof supersededRow>[]> =>
  db.any(statement(supersededRow)`
    SELECT s.run_id AS id, q.workspace_id
    FROM (
      SELECT DISTINCT workspace_id, workflow_id, key FROM run_places
      WHERE state = 'waiting' AND key IS NOT NULL
        AND ${queue === undefined ? sql.fragment`true` : sql.fragment`workflow_id = ${queue.workflow_id} AND key = ${queue.key}`}
    ) AS q
    JOIN workflow_limits l ON l.workflow_id = q.workflow_id AND l.settings -> 'concurrency' ->> 'on_limit' = 'cancel_running'
    CROSS JOIN LATERAL (
      SELECT p.run_id FROM run_places p
      WHERE p.workflow_id = q.workflow_id AND p.key = q.key AND p.state <> 'leaving'
      ORDER BY p.seq DESC OFFSET (l.settings -> 'concurrency' ->> 'limit')::integer
    ) AS s
    LIMIT ${limit}
  `);
