import { z } from 'zod';
import {
  type Failure,
  runStatusSchema,
  type RunSummary,
  triggerSchema,
} from '#shared/contract/runs/run.ts';
import { toDollars } from '#shared/money/money.ts';
import { sql } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/** The columns of a run's summary, from `runs` as `r` and `workflows` as `w`. */
export const summaryColumns = sql.fragment`
  r.id, r.workspace_id, r.workflow_id, w.name AS workflow_name, r.workflow_version, r.status, r.trigger, r.parent_run_id, r.parent_step_key,
  r.forked_from, r.forked_from_step, r.graph IS NOT NULL AS of_draft, CASE WHEN r.rehearsal IS NOT NULL THEN 'recorded' END AS mode, r.error,
  (SELECT count(*)::int FROM steps u WHERE u.run_id = r.id AND u.unpriced AND u.reused_from IS NULL) AS unpriced_steps,
  r.inbound_event_id, r.failure, r.cost_micros, r.cost_cap_micros, r.created_by, r.created_at, r.started_at, r.finished_at,
  r.resumed_count,
  CASE WHEN r.limits IS NOT NULL AND r.status IN ('pending', 'running') THEN queue_of_1(r.id) END AS queued,
  r.active_ms + CASE WHEN r.status = 'running' AND NOT r.at_rest AND r.phase_since IS NOT NULL
    THEN (extract(epoch FROM clock_timestamp() - r.phase_since) * 1000)::bigint ELSE 0 END AS duration_ms,
  r.waiting_ms + CASE WHEN (r.status = 'paused' OR r.at_rest) AND r.phase_since IS NOT NULL
    THEN (extract(epoch FROM clock_timestamp() - r.phase_since) * 1000)::bigint ELSE 0 END AS waiting_ms`;

export const summaryRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  workflow_version: z.number(),
  status: runStatusSchema,
  trigger: triggerSchema,
  parent_run_id: z.string().nullable(),
  parent_step_key: z.string().nullable(),
  forked_from: z.string().nullable(),
  forked_from_step: z.string().nullable(),
  of_draft: z.boolean(),
  mode: z.literal('recorded').nullable(),
  inbound_event_id: z.string().nullable(),
  error: z.string().nullable(),
  failure: storedJson<Failure | null>(),
  cost_micros: z.number(),
  unpriced_steps: z.number(),
  cost_cap_micros: z.number().nullable(),
  created_by: z.string().nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  finished_at: z.string().nullable(),
  resumed_count: z.number(),
  queued: storedJson<RunSummary['queued']>(),
  duration_ms: z.number(),
  waiting_ms: z.number(),
});

export function toSummary(row: z.infer<typeof summaryRow>): RunSummary {
  const { cost_micros, cost_cap_micros, ...same } = row;
  return {
    ...same,
    run_id: row.id,
    // A rehearsal that is not fully recorded would end there again.
    resumable: row.status === 'failed' && row.failure?.kind !== 'unrecorded',
    cost_usd: toDollars(cost_micros),
    cost_cap_usd: cost_cap_micros === null ? null : toDollars(cost_cap_micros),
  };
}
