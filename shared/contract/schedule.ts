import { z } from 'zod';
import { jsonObject, timestamp } from './common.ts';

/** Whether a run may begin while an earlier one of the same schedule is pending, running or paused. */
export const overlaps = ['skip', 'allow'] as const;

export const scheduleSchema = z
  .object({
    id: z.string(),
    workflow_id: z.string(),
    name: z.string().nullable(),
    cron: z.string(),
    timezone: z.string(),
    input: jsonObject.meta({ description: 'What each run is given' }),
    enabled: z.boolean(),
    overlap: z.enum(overlaps),
    next_run_at: timestamp.nullable().meta({ description: 'Null while it is not enabled' }),
    last_run_at: timestamp.nullable(),
    last_run_id: z.string().nullable(),
    last_skip: z
      .object({ at: timestamp, reason: z.string() })
      .nullable()
      .meta({ description: 'The latest time that was due and got no run, and why' }),
    created_at: timestamp,
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
    .meta({ description: 'IANA name of the zone the cron is read in' }),
  input: jsonObject,
  enabled: z.boolean(),
  overlap: z.enum(overlaps).meta({
    description: '`skip`: no run begins while an earlier one of the schedule has not ended',
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

/** Absent fields stay. The workflow may be named as it is, but not changed. */
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
