import { z } from 'zod';
import { jsonObject, timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';

/** Whether a run can start while an earlier run of the schedule is pending, running or paused. */
export const overlaps = ['skip', 'allow'] as const;

export const scheduleSchema = z
  .object({
    id: z.string(),
    workflow_id: z.string(),
    name: z.string().nullable(),
    cron: z.string(),
    timezone: z.string(),
    input: jsonObject.meta({ description: 'The input of each run' }),
    enabled: z.boolean(),
    overlap: z.enum(overlaps),
    next_run_at: timestamp
      .nullable()
      .meta({ description: 'Null while it is disabled or has a `sync_error`' }),
    last_run_at: timestamp.nullable(),
    last_run_id: z.string().nullable(),
    last_skip: z
      .object({ at: timestamp, reason: z.string() })
      .nullable()
      .meta({ description: 'The latest due time without a run, and the reason' }),
    sync_error: z.string().nullable().meta({
      description: 'Why the schedule cannot run as it is; null after a change that mends it',
    }),
    created_at: timestamp,
    etag,
  })
  .meta({ id: 'Schedule' });

const fields = {
  name: z.string().trim().min(1).max(200).nullish(),
  cron: z.string().trim().min(1).max(200).meta({
    description:
      'Minute, hour, day of month, month, day of week; or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`',
  }),
  timezone: z
    .string()
    .min(1)
    .max(100)
    .meta({ description: 'IANA time zone of the cron expression' }),
  input: jsonObject,
  enabled: z.boolean(),
  overlap: z.enum(overlaps).meta({
    description: '`skip`: no run starts while an earlier one of the schedule is active',
  }),
};

export const scheduleInput = z
  .strictObject({
    workflow_id: z.string().min(1).max(100),
    name: fields.name,
    cron: fields.cron,
    timezone: fields.timezone.default('UTC'),
    input: fields.input.default({}),
    enabled: fields.enabled.default(true),
    overlap: fields.overlap.default('skip'),
  })
  .meta({
    examples: [
      {
        workflow_id: 'wf_01m7y4b5yja8njm4nzqh2tfk8z',
        name: 'Weekday report',
        cron: '30 8 * * 1-5',
        timezone: 'Europe/Berlin',
        input: { team: 'support' },
      },
    ],
  });

/** Absent fields do not change. The workflow cannot change, but requests can include its current value. */
export const scheduleUpdate = z
  .strictObject({
    workflow_id: z.string().min(1).max(100).optional(),
    name: fields.name,
    cron: fields.cron.optional(),
    timezone: fields.timezone.optional(),
    input: fields.input.optional(),
    enabled: fields.enabled.optional(),
    overlap: fields.overlap.optional(),
  })
  .meta({ examples: [{ cron: '0 9 * * 1-5', enabled: false }] });

export type Schedule = z.infer<typeof scheduleSchema>;
export type ScheduleInput = z.infer<typeof scheduleInput>;
export type ScheduleUpdate = z.infer<typeof scheduleUpdate>;
