import { z } from 'zod';
import { timestamp } from '#shared/contract/common.ts';

/** Background jobs do long work over a workspace's history. All kinds of jobs have these fields. */
export const jobStatuses = ['running', 'done', 'cancelled', 'failed'] as const;

export const jobFields = {
  id: z.string(),
  status: z.enum(jobStatuses),
  progress: z
    .object({
      done: z.int(),
      total: z.int().nullable().meta({ description: 'Null until it is counted' }),
    })
    .meta({ id: 'JobProgress' }),
  error: z.string().nullable().meta({ description: 'Why it failed' }),
  created_by: z.string().nullable(),
  created_by_name: z.string().nullable(),
  created_at: timestamp,
  finished_at: timestamp.nullable(),
};

export const startedJobSchema = z
  .object({ id: jobFields.id, status: jobFields.status })
  .meta({ id: 'StartedJob' });
export type StartedJob = z.infer<typeof startedJobSchema>;

/** The workflow type of a background job. Its workflow id is `<job id>-<round>`. */
export const JOB_WORKFLOW = 'backgroundJob';

interface JobCall {
  workspace_id: string;
  job_id: string;
  round: number;
}

/** Everything else is in the job's row. */
export interface BackgroundJobInput extends JobCall {
  task_queue: string;
}

/** `ended`: the job has ended, was deleted, or another execution has replaced this one. */
export type JobPart = 'more' | 'ended';

export interface JobActivities {
  /** Works on a job for a bounded time, page by page. */
  advanceJob(call: JobCall): Promise<JobPart>;
  failJob(call: JobCall & { error: string }): Promise<void>;
}
