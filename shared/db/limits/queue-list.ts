import { z } from 'zod';
import type { OffsetPage } from '#shared/contract/common.ts';
import { QUEUE_RUNS, queueSchema, type RunQueue } from '#shared/contract/limits/queue.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { type Db, sql } from '#shared/db/pool.ts';
import { deadlocked, type WaitingChild } from '#shared/graph/limits/deadlocks.ts';

/** The places that wait in a queue `q`. It has one of the keys, so the other parts have none. */
const waiting = sql.fragment`
  SELECT run_id, queued_at, priority, seq, NULL::timestamptz AS until FROM run_places
  WHERE workflow_id = q.workflow_id AND key = q.slot_key AND state = 'waiting'
  UNION ALL
  SELECT run_id, queued_at, priority, seq, NULL FROM run_places
  WHERE workflow_id = q.workflow_id AND key IS NULL AND rate_key = q.token_key AND state = 'waiting'
  UNION ALL
  SELECT run_id, queued_at, priority, seq, due_at FROM run_places
  WHERE workflow_id = q.workflow_id AND debounce_key = q.awaited_key AND state = 'debounced'`;

const childRow = z.object({
  run_id: z.string(),
  above: z.array(z.string()),
  holders: z.array(z.string()),
});

/** The most runs that are asked about, and the most holders of a key. */
const MAX_CHILDREN = 1_000;
const MAX_HOLDERS = 100;

/** The runs of a workspace that wait for a slot, with the runs above them. Without keys that more runs hold. */
const waitingChildren = (db: Db, workspaceId: string): Promise<readonly WaitingChild[]> =>
  db.any(sql.type(childRow)`
    WITH RECURSIVE child AS (
      SELECT p.run_id, p.workflow_id, p.key, r.parent_run_id
      FROM run_places p JOIN runs r ON r.id = p.run_id
      WHERE p.workspace_id = ${workspaceId} AND p.state = 'waiting' AND p.key IS NOT NULL AND r.parent_run_id IS NOT NULL
      LIMIT ${MAX_CHILDREN}::int
    ), above AS (
      SELECT run_id, parent_run_id AS id FROM child
      UNION ALL
      SELECT a.run_id, r.parent_run_id FROM above a JOIN runs r ON r.id = a.id WHERE r.parent_run_id IS NOT NULL
    )
    SELECT c.run_id, ARRAY(SELECT a.id FROM above a WHERE a.run_id = c.run_id) AS above, h.holders
    FROM child c CROSS JOIN LATERAL (
      SELECT ARRAY(
        SELECT run_id FROM run_places WHERE workflow_id = c.workflow_id AND key = c.key AND state IN ('holding', 'leaving', 'pausing')
        LIMIT ${MAX_HOLDERS + 1}::int) AS holders
    ) AS h
    WHERE cardinality(h.holders) <= ${MAX_HOLDERS}::int
  `);

/** The queues of a workspace, or of a workflow, by the name of the workflow and the key. */
export async function listQueues(
  db: Db,
  scope: OffsetPage & { workspaceId: string; workflow_id?: string | undefined },
): Promise<RunQueue[]> {
  const queues = await readQueues(db, scope);
  const asks = queues.some((queue) => queue.for === 'concurrency' && queue.waiting.length > 0);
  const stuck = deadlocked(asks ? await waitingChildren(db, scope.workspaceId) : []);
  return queues.map((queue) => ({
    ...queue,
    waiting: queue.waiting.map((run) => ({ ...run, deadlocked: stuck.has(run.run_id) })),
  }));
}

const readQueues = (
  db: Db,
  {
    workspaceId,
    workflow_id,
    ...page
  }: OffsetPage & { workspaceId: string; workflow_id?: string | undefined },
): Promise<readonly RunQueue[]> => {
  const ofWorkflow =
    workflow_id === undefined ? sql.fragment`true` : sql.fragment`workflow_id = ${workflow_id}`;
  const places = sql.fragment`run_places WHERE workspace_id = ${workspaceId} AND ${ofWorkflow}`;
  return db.any(sql.type(queueSchema)`
    SELECT q.workflow_id, q.workflow_name, q.for, coalesce(q.slot_key, q.token_key, q.awaited_key) AS key,
           (l.settings -> q.for ->> 'limit')::integer AS limit,
           coalesce((
             SELECT json_agg(json_build_object('run_id', p.run_id, 'status', r.status, 'since', p.taken_at) ORDER BY p.taken_at)
             FROM (
               SELECT run_id, taken_at FROM run_places
               WHERE workflow_id = q.workflow_id AND key = q.slot_key AND state IN ('holding', 'leaving', 'pausing')
               ORDER BY taken_at LIMIT ${QUEUE_RUNS}::int
             ) AS p JOIN runs r ON r.id = p.run_id
           ), '[]') AS in_flight,
           coalesce((
             SELECT json_agg(json_build_object('run_id', p.run_id, 'status', r.status, 'since', p.queued_at,
                                               'position', p.position, 'priority', p.priority,
                                               'until', p.until, 'deadlocked', false) ORDER BY p.position)
             FROM (
               SELECT w.*, row_number() OVER (ORDER BY priority DESC, seq) AS position FROM (${waiting}) AS w
               ORDER BY priority DESC, seq LIMIT ${QUEUE_RUNS}::int
             ) AS p JOIN runs r ON r.id = p.run_id
           ), '[]') AS waiting,
           (SELECT count(*)::int FROM (${waiting}) AS w) AS waiting_count
    FROM (
      SELECT k.*, w.name AS workflow_name
      FROM (
        SELECT workflow_id, 'concurrency' AS for, key AS slot_key, NULL AS token_key, NULL AS awaited_key FROM ${places} AND key IS NOT NULL AND state <> 'away'
        GROUP BY workflow_id, key
        UNION ALL
        SELECT workflow_id, 'rate', NULL, rate_key, NULL FROM ${places} AND key IS NULL AND state = 'waiting'
        GROUP BY workflow_id, rate_key
        UNION ALL
        SELECT workflow_id, 'debounce', NULL, NULL, debounce_key FROM ${places} AND state = 'debounced'
      ) AS k JOIN workflows w ON w.id = k.workflow_id
      ORDER BY w.name, k.workflow_id, k.for, k.slot_key, k.token_key, k.awaited_key ${offsetClause(page)}
    ) AS q
    LEFT JOIN workflow_limits l ON l.workflow_id = q.workflow_id
    ORDER BY q.workflow_name, q.workflow_id, q.for, q.slot_key, q.token_key, q.awaited_key
  `);
};
