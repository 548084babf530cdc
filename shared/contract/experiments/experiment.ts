import { z } from 'zod';
import {
  dollars,
  dollarsInput,
  jsonValue,
  nextCursor,
  pageQuery,
  timeInput,
} from '#shared/contract/common.ts';
import { rehearsalFields, rehearses } from '#shared/contract/forks/fork.ts';
import { jobFields } from '#shared/contract/jobs/job.ts';

/** The maximum number of runs in one experiment. */
export const MAX_EXPERIMENT_RUNS = 1_000;

export const experimentOutcomes = ['equal', 'changed', 'failed', 'unrecorded', 'refused'] as const;
const endedStatuses = ['success', 'failed'] as const;

const versionNumber = z.int().min(1).max(1_000_000_000);

const CANDIDATES = 'must be \'draft\' or {"version": n}';
const candidateInput = z
  .union([z.literal('draft', { error: CANDIDATES }), z.strictObject({ version: versionNumber })])
  .meta({
    description: "What to try: the workflow's draft as it is now, or one of its versions",
  });

const lastRuns = z.strictObject({
  last: z.int().min(1).max(MAX_EXPERIMENT_RUNS).meta({ description: 'The newest so many' }),
  status: z.enum(endedStatuses).optional().meta({ description: 'By default both' }),
  since: timeInput.optional().meta({ description: 'Created at or after' }),
});

const namedRuns = z.array(z.string().min(1).max(100)).min(1);
const isBounded = (runs: unknown): boolean =>
  !Array.isArray(runs) || runs.length <= MAX_EXPERIMENT_RUNS;

export const experimentFields = {
  candidate: candidateInput,
  runs: z
    .union([lastRuns, namedRuns])
    .refine(isBounded, `must be at most ${MAX_EXPERIMENT_RUNS} runs: make several experiments`)
    .meta({
      description:
        'The runs to rehearse: the newest ones that have ended, or those with these ids. All of this workflow; rehearsals are no runs to rehearse',
    }),
  ...rehearsalFields,
  budget_usd: dollarsInput.optional().meta({
    description:
      'What all rehearsals together may spend, with `allow`. What does not fit is not executed, and its run is `refused`',
  }),
};

export const experimentBody = rehearses(z.strictObject(experimentFields)).meta({
  examples: [{ candidate: 'draft', runs: { last: 50, status: 'success' } }],
});
export type ExperimentRequest = z.infer<typeof experimentBody>;

const differenceSchema = z
  .object({
    path: z.string().meta({ examples: ['answer.text', 'items[2]'] }),
    change: z.enum(['added', 'removed', 'changed']),
    from: jsonValue.optional(),
    to: jsonValue.optional(),
  })
  .meta({
    id: 'OutputDifference',
    description: 'A long value is shown as the beginning of its JSON, with `…`',
  });

const diffSchema = z
  .object({
    differences: z.array(differenceSchema),
    more: z.boolean().meta({ description: 'There are more' }),
  })
  .meta({ id: 'OutputDiff' });

const pair = (noun: string, unit: z.ZodType<number>) =>
  z.object({ base: unit, candidate: unit }).meta({ description: noun });

const comparedRunSchema = z
  .object({
    run_id: z
      .string()
      .meta({ description: 'The run that was rehearsed. It may have been deleted' }),
    rehearsal_run_id: z.string().nullable(),
    input: z.string().nullable().meta({
      description: "The beginning of the run's input as JSON. Null once the run is deleted",
    }),
    outcome: z.enum(experimentOutcomes),
    reason: z.string().nullable().meta({
      description: 'Why it failed, has no record, was refused, or is changed without a diff',
    }),
    diff: diffSchema.nullable().meta({ description: 'Of the outputs' }),
    checks: z.object({ won: z.array(z.string()), lost: z.array(z.string()) }).meta({
      description:
        'The names of the checks that only the rehearsal, and that only the run has passed',
    }),
    cost_usd: pair('The recorded cost, and that of the candidate', dollars).nullable(),
    duration_ms: pair('How long the steps took together', z.int()).nullable(),
  })
  .meta({ id: 'ComparedRun' });
export type ComparedRun = z.infer<typeof comparedRunSchema>;

const interval = z.object({ mean: z.number(), low: z.number(), high: z.number() }).meta({
  id: 'ConfidenceInterval',
  description:
    'The mean difference per run, candidate minus base, with its 95% confidence interval by the t distribution',
});

const total = (noun: string) =>
  z.object({ base: z.number(), candidate: z.number(), difference: interval.nullable() }).meta({
    description: `${noun} of the runs that are equal or changed. \`difference\` is null for fewer than two`,
  });

const summarySchema = z
  .object({
    equal: z.int(),
    changed: z.int(),
    failed: z.int().meta({ description: 'Failed, and had not failed before' }),
    unrecorded: z.int().meta({ description: 'Reached a step or a gate that has no record' }),
    refused: z.int().meta({ description: 'Could not be rehearsed, or had no budget left' }),
    checks: z.object({
      won: z.int(),
      lost: z.int(),
      total: z.int().meta({ description: 'The checks by which each run is scored' }),
      broken: z.array(z.object({ name: z.string(), runs: z.int() })).meta({
        description:
          'The lost checks with the number of runs that lose them, most runs first; at most 10',
      }),
    }),
    cost_usd: total('The cost'),
    duration_ms: total('The duration of the steps'),
  })
  .meta({ id: 'ExperimentSummary' });
export type ExperimentSummary = z.infer<typeof summarySchema>;

const listedFields = {
  ...jobFields,
  workflow_id: z.string(),
  candidate: z.union([z.literal('draft'), z.object({ version: z.int() })]),
  allow: z.array(z.string()),
  budget_usd: dollars.nullable(),
  spent_usd: dollars.meta({ description: 'What its rehearsals have spent' }),
  summary: summarySchema,
};

export const listedExperimentSchema = z.object(listedFields).meta({ id: 'ListedExperiment' });
export type ListedExperiment = z.infer<typeof listedExperimentSchema>;

export const experimentSchema = z
  .object({
    ...listedFields,
    runs: z.array(comparedRunSchema).meta({
      description: 'Those that are done: failed ones first, then lost checks, then changed outputs',
    }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'Experiment' });
export type Experiment = z.infer<typeof experimentSchema>;

export const experimentListSchema = z
  .object({
    experiments: z.array(listedExperimentSchema).meta({ description: 'Newest first' }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'ExperimentList' });

export const experimentQuery = z.strictObject({
  outcome: z.enum(experimentOutcomes).optional().meta({ description: 'Only these' }),
  format: z.enum(['json', 'csv']).optional().meta({
    description: '`csv`: all runs, without pages. The default is `json`',
  }),
  ...pageQuery.shape,
});
