import { z } from 'zod';
import { nextCursor, pageQuery, timeInput, timestamp } from '#shared/contract/common.ts';
import { jobFields } from '#shared/contract/jobs/job.ts';
import { policiesInput, policiesSchema } from './policy.ts';

/** The maximum number of differences that are stored with their steps. The counts are always exact. */
export const MAX_FINDINGS = 10_000;

export const backtestEffects = ['would_block', 'would_redact', 'would_allow'] as const;
export type BacktestEffect = (typeof backtestEffects)[number];
const outcomes = ['allowed', 'redacted', 'blocked'] as const;
export type PolicyOutcome = (typeof outcomes)[number];

export const backtestFields = {
  policies: policiesInput,
  since: timeInput.meta({ description: 'Judges the steps of runs that were created since then' }),
  workflow_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .meta({ description: 'Only runs of this workflow' }),
};

export const backtestBody = z.strictObject(backtestFields).meta({
  examples: [
    {
      policies: {
        model_allowlist: ['mock'],
        tools: [{ tool: 'send_email', allowed_workflow_ids: [] }],
        redaction: { detectors: ['email'], patterns: [] },
      },
      since: '2026-01-01T00:00:00Z',
    },
  ],
});

const summarySchema = z
  .object({
    judged: z.int().meta({ description: 'Steps that could be judged' }),
    would_block: z.int(),
    would_redact: z.int(),
    would_allow: z
      .int()
      .meta({ description: 'Steps that were blocked or redacted and would not be' }),
    hidden: z.int().meta({
      description:
        'Steps that could not be judged: what matters was redacted, or is not stored with the step',
    }),
  })
  .meta({ id: 'BacktestSummary' });
export type BacktestSummary = z.infer<typeof summarySchema>;

export const noSteps: BacktestSummary = {
  judged: 0,
  would_block: 0,
  would_redact: 0,
  would_allow: 0,
  hidden: 0,
};

const findingSchema = z
  .object({
    effect: z.enum(backtestEffects),
    run_id: z.string(),
    step_key: z.string(),
    node_id: z.string(),
    before: z.enum(outcomes).meta({ description: 'As the step was judged when it ran' }),
    after: z.enum(outcomes).meta({ description: 'As these policies judge it' }),
    reason: z.string().meta({ examples: ["Tool 'send_email' is not allowed in this workflow"] }),
  })
  .meta({ id: 'BacktestFinding' });
export type BacktestFinding = z.infer<typeof findingSchema>;

const listedFields = {
  ...jobFields,
  since: timestamp,
  workflow_id: z.string().nullable(),
  summary: summarySchema,
};

export const backtestSchema = z
  .object({
    ...listedFields,
    policies: policiesSchema,
    steps: z.array(findingSchema).meta({
      description: 'Steps that would be judged differently, those of the newest runs first',
    }),
    truncated: z.boolean().meta({
      description: `There are more such steps: the first ${MAX_FINDINGS.toLocaleString('en')} are kept. The counts are exact`,
    }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'Backtest' });
export type Backtest = z.infer<typeof backtestSchema>;

const listedBacktestSchema = z.object(listedFields).meta({ id: 'ListedBacktest' });
export type ListedBacktest = z.infer<typeof listedBacktestSchema>;

export const backtestListSchema = z
  .object({
    backtests: z.array(listedBacktestSchema).meta({ description: 'Newest first' }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'BacktestList' });
export type BacktestList = z.infer<typeof backtestListSchema>;

export const backtestQuery = z.strictObject({
  effect: z.enum(backtestEffects).optional().meta({ description: 'Only steps with this effect' }),
  ...pageQuery.shape,
});
export type BacktestQuery = z.infer<typeof backtestQuery>;
