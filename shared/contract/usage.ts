import { z } from 'zod';
import { planNames } from '../plans.ts';
import { dollars, timestamp } from './common.ts';

export const usageSchema = z
  .object({
    plan: z.enum(planNames),
    runs_used: z.int().meta({
      description:
        'Runs created this month, whatever became of them: what the quota is compared with',
    }),
    runs_limit: z.int().nullable().meta({ description: 'Null: without limit' }),
    cost_usd: dollars,
    period_start: timestamp.meta({ description: 'First instant of the current month, UTC' }),
    period_end: timestamp.meta({ description: 'Last second of the current month, UTC' }),
  })
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof usageSchema>;

export const metricsOverviewSchema = z
  .object({
    total_runs: z.int().meta({ description: 'Every run there ever was, deleted ones included' }),
    success_rate: z.number().meta({
      description: 'Percent of the finished runs, one decimal; 0 when none has finished',
    }),
    total_cost_usd: dollars,
    active_workflows: z.int().meta({ description: 'Published workflows' }),
    runs_by_day: z
      .array(z.object({ date: z.iso.date(), count: z.int(), cost_usd: dollars }))
      .meta({ description: 'The last 14 days, UTC, today included, oldest first' }),
    eval_pass_rate: z.number().nullable().meta({
      description: 'Percent of the checks that passed, one decimal; null when none has run',
    }),
    evaluated_runs: z.int().meta({ description: 'Runs that were scored by at least one check' }),
  })
  .meta({ id: 'MetricsOverview' });
export type MetricsOverview = z.infer<typeof metricsOverviewSchema>;
