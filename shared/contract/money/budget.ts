import { z } from 'zod';
import { dollars, dollarsInput, timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';

export const budgetScopes = ['workspace', 'workflow'] as const;
export const budgetWindows = ['day', 'week', 'month', 'total'] as const;
export const overrunModes = ['none', 'one_step'] as const;
/** How much of the limit is spent when an alert is sent, in percent. */
export const alertPercents = [80, 100] as const;
export type AlertPercent = (typeof alertPercents)[number];
export type BudgetWindow = (typeof budgetWindows)[number];

/** By how much a limit can be exceeded. */
export const overrunField = z.enum(overrunModes).meta({
  description:
    '`none`: a request begins only if all that it may cost fits, beside the requests in progress. `one_step`: a request ' +
    'begins while something is left, so that the limit is exceeded by less than one step',
});

/** The counters of a budget's current window. */
export const budgetStatusSchema = z
  .object({
    spent_usd: dollars.meta({ description: 'Settled cost of finished runs in the window' }),
    reserved_usd: dollars.meta({ description: 'Open holds of runs in flight' }),
    committed_usd: dollars.meta({ description: 'Spent and reserved' }),
    remaining_usd: z.number().meta({
      description: 'Limit minus committed; negative when runs cost more than they held',
    }),
    pct: z.number().meta({ description: 'Committed as a share of the limit, 0 to 100 and above' }),
    over: z.boolean().meta({ description: 'Committed has reached the limit: triggers return 402' }),
    projected_usd: dollars.meta({
      description: 'Projected spend at the end of the window, at the current rate',
    }),
    window_start: timestamp.nullable().meta({ description: 'Null for `total`' }),
    window_end: timestamp
      .nullable()
      .meta({ description: 'The first instant after the window; null for `total`' }),
  })
  .meta({ id: 'BudgetStatus' });

/** How many days the history of a budget without a window covers. */
export const TOTAL_HISTORY_DAYS = 90;

export const budgetHistorySchema = z
  .object({
    window_start: timestamp.nullable().meta({ description: 'Null for `total`' }),
    window_end: timestamp
      .nullable()
      .meta({ description: 'The first instant after the window; null for `total`' }),
    limit_usd: dollars,
    days: z.array(z.object({ date: z.iso.date(), spent_usd: dollars })).meta({
      description:
        'Settled spend by the day, UTC, on which runs ended, oldest first: every day of the window up to today, of ' +
        `\`total\` the last ${TOTAL_HISTORY_DAYS}. Spend from before the budget was created is on its day of creation.`,
    }),
  })
  .meta({ id: 'BudgetHistory' });

const fields = {
  name: z.string().trim().min(1).max(200),
  limit_usd: dollarsInput,
  reservation_estimate_usd: dollarsInput.nullish().meta({
    description:
      'What each trigger reserves. Without it only the cost of ended runs counts, and a run that has started can exceed the limit.',
  }),
  overrun: overrunField.optional(),
  alerts: z.boolean().optional().meta({
    description:
      'Whether alerts are sent when 80% and when 100% of the limit is spent, each once in a window; true by default',
  }),
};

const scoped = {
  scope: z.enum(budgetScopes).default('workspace'),
  workflow_id: z
    .string()
    .min(1)
    .max(100)
    .nullish()
    .meta({ description: 'The workflow, for scope `workflow`' }),
  window: z.enum(budgetWindows).default('month').meta({
    description: 'UTC; weeks start on Monday',
  }),
};

export const budgetInput = z
  .strictObject({ ...fields, ...scoped })
  .refine((budget) => (budget.scope === 'workflow') === (budget.workflow_id != null), {
    path: ['workflow_id'],
    message: "is required with scope 'workflow', and only allowed there",
  })
  .meta({
    examples: [{ name: 'Monthly', window: 'month', limit_usd: 50, reservation_estimate_usd: 0.25 }],
  });

/**
 * Absent fields do not change; null removes the estimate. Scope, workflow and window cannot change, since the counters
 * depend on them, but requests can include their current values.
 */
export const budgetUpdate = z
  .strictObject({
    name: fields.name.optional(),
    limit_usd: fields.limit_usd.optional(),
    reservation_estimate_usd: fields.reservation_estimate_usd,
    overrun: fields.overrun,
    alerts: fields.alerts,
    scope: z.enum(budgetScopes).optional(),
    workflow_id: scoped.workflow_id,
    window: z.enum(budgetWindows).optional(),
  })
  .meta({ examples: [{ limit_usd: 100 }] });

export const budgetSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    scope: z.enum(budgetScopes),
    workflow_id: z.string().nullable(),
    window: z.enum(budgetWindows),
    limit_usd: dollars,
    reservation_estimate_usd: dollars.nullable(),
    overrun: overrunField,
    alerts: z.boolean().meta({ description: 'Whether it sends alerts' }),
    created_at: timestamp,
    status: budgetStatusSchema,
    etag,
  })
  .meta({ id: 'Budget' });

export const overrideBody = z
  .strictObject({
    approved: z.literal(true, 'must be true: an override is an approval'),
    cap_usd: dollarsInput
      .optional()
      .meta({ description: 'What the run may cost in total. Without it there is no cap.' }),
    reason: z.string().trim().max(1_000).optional(),
  })
  .meta({ examples: [{ approved: true, cap_usd: 5, reason: 'month-end close' }] });

export type Budget = z.infer<typeof budgetSchema>;
export type BudgetStatus = z.infer<typeof budgetStatusSchema>;
export type BudgetHistory = z.infer<typeof budgetHistorySchema>;
export type BudgetInput = z.infer<typeof budgetInput>;
export type BudgetUpdate = z.infer<typeof budgetUpdate>;
