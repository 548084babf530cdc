import { z } from 'zod';
import { planNames } from '#shared/people/plans.ts';
import { dollars, timestamp, wholeNumber } from '#shared/contract/common.ts';

export const usageSchema = z
  .object({
    plan: z.enum(planNames),
    runs_used: z.int().meta({
      description:
        'Runs created this month, regardless of their result; the quota limits this number',
    }),
    runs_limit: z.int().nullable().meta({ description: 'Null: unlimited' }),
    cost_usd: dollars,
    period_start: timestamp.meta({ description: 'First instant of the current month, UTC' }),
    period_end: timestamp.meta({ description: 'Last second of the current month, UTC' }),
  })
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof usageSchema>;

export const metricsOverviewSchema = z
  .object({
    total_runs: z.int().meta({ description: 'All runs, including deleted ones' }),
    success_rate: z.number().meta({
      description: 'Percent of the finished runs, one decimal; 0 when none has finished',
    }),
    total_cost_usd: dollars,
    active_workflows: z.int().meta({ description: 'Published workflows' }),
    runs_by_day: z
      .array(z.object({ date: z.iso.date(), count: z.int(), cost_usd: dollars }))
      .meta({ description: 'The last 14 days, UTC, including today, oldest first' }),
    eval_pass_rate: z.number().nullable().meta({
      description: 'Percent of the checks that passed, one decimal; null when none has run',
    }),
    evaluated_runs: z.int().meta({ description: 'Runs that were scored by at least one check' }),
  })
  .meta({ id: 'MetricsOverview' });
export type MetricsOverview = z.infer<typeof metricsOverviewSchema>;

/** The maximum number of rows in a list of the breakdown. The rest is summed up in one more row. */
export const MAX_BREAKDOWN_ROWS = 50;

export const breakdownQuery = z.strictObject({
  days: wholeNumber(1, 90)
    .prefault('30')
    .meta({ description: 'How many days, UTC, including today' }),
});

const tokens = z.int().meta({ description: 'Of the attempts that ended the steps' });

const unpricedSteps = z.int().meta({ description: 'Steps whose cost is not completely known' });

export const usageBreakdownSchema = z
  .object({
    since: timestamp.meta({ description: 'First instant of the first day' }),
    until: timestamp.meta({ description: 'Now' }),
    by_workflow: z
      .array(
        z.object({
          workflow_id: z.string().nullable().meta({ description: 'Null: all others' }),
          name: z.string(),
          runs: z.int(),
          cost_usd: dollars,
          unpriced_steps: unpricedSteps,
        }),
      )
      .meta({
        description:
          `Runs created in these days that still exist, most expensive first. Beyond ${MAX_BREAKDOWN_ROWS}, the last row is ` +
          '`other`',
      }),
    by_model: z
      .array(
        z.object({
          model: z.string().nullable().meta({
            description: 'Null: attempts that failed permanently, of any model',
          }),
          steps: z.int(),
          input_tokens: tokens,
          output_tokens: tokens,
          cost_usd: dollars,
          unpriced_steps: unpricedSteps,
        }),
      )
      .meta({
        description: `The steps of these runs, in the same way; beyond ${MAX_BREAKDOWN_ROWS}, the last row is \`other\``,
      }),
    by_day: z
      .array(z.object({ date: z.iso.date(), runs: z.int(), cost_usd: dollars }))
      .meta({ description: 'Every day, oldest first, of all runs, including deleted ones' }),
  })
  .meta({ id: 'UsageBreakdown' });
export type UsageBreakdown = z.infer<typeof usageBreakdownSchema>;
