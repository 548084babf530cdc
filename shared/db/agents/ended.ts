import { z } from 'zod';
import { type Db, statement } from '#shared/db/pool.ts';

const endedAgent = z.object({
  step_key: z.string(),
  node_id: z.string(),
  label: z.string(),
  status: z.enum(['success', 'failed', 'cancelled']),
  /** In ms since 1970, with fractions. */
  started_ms: z.number(),
  finished_ms: z.number(),
  turns: z.number(),
  calls: z.number(),
  /** The model of the newest turn, such as `openai/gpt-5`. */
  model: z.string().nullable(),
  /** Null when no turn has any. */
  input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  cost_micros: z.number(),
  /** Whether part of the cost is unknown. */
  unpriced: z.boolean(),
});

export type EndedAgent = z.infer<typeof endedAgent>;

/**
 * The agents with tools that have ended since the run's `resumes`-th resume. Turns, calls, tokens and cost are totals
 * for the agent, including work before a resume, as in the record of the run.
 */
export async function readEndedAgents(
  db: Db,
  { runId, resumes }: { runId: string; resumes: number },
): Promise<readonly EndedAgent[]> {
  return db.any(statement(endedAgent)`
    SELECT a.step_key, a.node_id, a.label, a.status, p.turns, p.calls, p.model, p.input_tokens, p.output_tokens,
           p.cost_micros, p.unpriced, (extract(epoch FROM a.started_at) * 1000)::float8 AS started_ms,
           (extract(epoch FROM a.finished_at) * 1000)::float8 AS finished_ms
    FROM steps a JOIN (
      SELECT parent_step_key, count(*) FILTER (WHERE call_index IS NULL)::int AS turns,
             count(*) FILTER (WHERE call_index IS NOT NULL)::int AS calls,
             (array_agg(coalesce(model, input ->> 'model') ORDER BY turn DESC) FILTER (WHERE call_index IS NULL))[1] AS model,
             sum((usage ->> 'input_tokens')::bigint)::bigint AS input_tokens,
             sum((usage ->> 'output_tokens')::bigint)::bigint AS output_tokens,
             sum(cost_micros)::bigint AS cost_micros, bool_or(unpriced) AS unpriced
      FROM steps WHERE run_id = ${runId} AND parent_step_key IS NOT NULL GROUP BY parent_step_key
    ) p ON p.parent_step_key = a.step_key
    WHERE a.run_id = ${runId} AND a.epoch = ${resumes}::int AND a.status IN ('success', 'failed', 'cancelled')
    ORDER BY a.ordinal
  `);
}
