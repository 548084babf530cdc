import { z } from 'zod';
import type { JsonObject } from '#shared/json.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import { startsRun } from '#shared/db/steps/step-records.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/** The cost of a run, and the total duration of its steps. */
export interface Figures {
  micros: number;
  ms: number;
}

const json = storedJson();
const jsonObject = storedJson<JsonObject | null>();

const endedRow = z.object({
  id: z.string(),
  status: z.enum(['success', 'failed']),
  output: json,
  state: jsonObject,
  error: z.string().nullable(),
  failure: z.object({ kind: z.string(), node_id: z.string().optional() }).nullable(),
  active_ms: z.number(),
  micros: z.number(),
  ms: z.number(),
});

/** A run that has ended, with everything that an experiment compares. */
export type FinishedRun = z.infer<typeof endedRow>;

/**
 * Where the figures of step `s` are stored: a reused step has those of the step that was executed. A rehearsal of a
 * fork reuses copies, so they can be two runs away.
 */
const executed = sql.fragment`
  SELECT s.* FROM steps s WHERE s.run_id = r.id AND s.reused_from IS NULL
  UNION ALL
  SELECT o.* FROM steps s JOIN steps o ON o.run_id = s.reused_from AND o.step_key = s.step_key
  WHERE s.run_id = r.id AND o.reused_from IS NULL
  UNION ALL
  SELECT o.* FROM steps s JOIN steps c ON c.run_id = s.reused_from AND c.step_key = s.step_key
  JOIN steps o ON o.run_id = c.reused_from AND o.step_key = s.step_key
  WHERE s.run_id = r.id`;

/** The cost of the run that step `s` started, and of the runs below it. */
const childMicros = sql.fragment`
  SELECT coalesce(sum(b.cost_micros), 0)
  FROM runs c JOIN runs b ON b.id = c.id OR b.id IN (SELECT x.id FROM runs_below(c.id) AS x)
  WHERE c.parent_run_id = s.run_id AND c.parent_step_key = s.step_key`;

/** Those of these runs that have ended. Reused steps have the recorded cost and duration. */
export const readFinishedRuns = (db: Db, ids: readonly string[]): Promise<readonly FinishedRun[]> =>
  db.any(statement(endedRow)`
    SELECT r.id, r.status, r.output, r.state, r.error, r.failure, r.active_ms,
           f.micros, f.ms
    FROM runs r CROSS JOIN LATERAL (
      SELECT coalesce(sum(s.cost_micros + CASE WHEN ${startsRun} THEN (${childMicros}) ELSE 0 END), 0)::bigint AS micros,
             -- Turns and calls of an agent are part of its own step.
             coalesce(sum(greatest(0, extract(epoch FROM s.finished_at - s.started_at) * 1000))
               FILTER (WHERE s.parent_step_key IS NULL AND s.kind IN ('agent', 'tool', 'code', 'workflow')), 0)::bigint AS ms
      FROM (${executed}) AS s
    ) AS f
    WHERE r.id = ANY (${sql.array([...ids], 'text')}) AND r.status IN ('success', 'failed')
  `);
