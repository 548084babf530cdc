import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { SkippedRun } from '#shared/contract/limits/limits.ts';
import { idempotencyKeySchema, type Run } from '#shared/contract/runs/run.ts';

/** Request headers of the routes that start a run. */
export const startHeaders = z.object({
  'idempotency-key': idempotencyKeySchema
    .optional()
    .meta({ description: 'Sent twice with the same input, it starts one run' }),
});

/** What the routes that start a run require, and the headers of their responses. */
export const startConfig = {
  capability: 'run_workflows',
  headers: ['Location', 'Idempotent-Replayed'],
} as const;

/** Sets status and headers: 201 for a new run, 200 if the `Idempotency-Key` has already started it. Returns the run. */
export function startedRun(reply: FastifyReply, run: Run, replayed: boolean): Run {
  reply.code(replayed ? 200 : 201).header('location', `/api/runs/${run.id}`);
  if (replayed) reply.header('idempotent-replayed', 'true');
  return run;
}

/** The answer to a trigger that started no run because of a limit. */
export const skippedRun = (detail: string): SkippedRun => ({
  run_id: null,
  status: 'skipped',
  detail,
});
