import { z } from 'zod';
import { planNames } from '#shared/people/plans.ts';
import { timestamp } from '#shared/contract/common.ts';
import { dataKeyModes } from './envelope.ts';

/** An allowance per month. */
const metered = z
  .object({
    used: z.int(),
    limit: z.int().nullable().meta({ description: 'Null: unlimited' }),
  })
  .meta({ id: 'Allowance' });

const month = {
  month: z.string().meta({ description: 'Calendar month, UTC', examples: ['2026-11'] }),
  period_start: timestamp.meta({ description: 'First instant of the month' }),
  period_end: timestamp.meta({ description: 'Last second of the month' }),
  plan: z.enum(planNames),
  requests: metered.meta({ description: 'Every call with a valid key, including refused ones' }),
  credits: metered,
  records: z.int().meta({ description: 'Paid records, events, changes and rows' }),
  webhook_deliveries: z.int(),
  source_checks: z.int(),
};

/** `GET /v1/usage`: the month's usage of the organization and of the calling key. */
export const dataUsageSchema = z
  .object({
    ...month,
    key: z.object({ id: z.string(), name: z.string(), requests: metered, credits: metered }),
  })
  .meta({ id: 'DataUsage' });
export type DataUsage = z.infer<typeof dataUsageSchema>;

/** `GET /api/data/usage`: the month's usage of the workspace and of each key that was used. */
export const workspaceDataUsageSchema = z
  .object({
    ...month,
    keys: z
      .array(
        z.object({
          id: z.string(),
          name: z.string(),
          mode: z.enum(dataKeyModes),
          requests: metered,
          credits: metered,
          records: z.int(),
        }),
      )
      .meta({ description: 'The keys used this month, most credits first; at most 200' }),
  })
  .meta({ id: 'WorkspaceDataUsage' });
export type WorkspaceDataUsage = z.infer<typeof workspaceDataUsageSchema>;
