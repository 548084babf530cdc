import { shownSchema } from '#shared/contract/gates/consequences.ts';
import { z } from 'zod';
import {
  dollars,
  dollarsText,
  jsonObject,
  jsonValue,
  nextCursor,
  pageQuery,
  refuseEmpty,
  timeInput,
  timestamp,
  wholeNumber,
} from '#shared/contract/common.ts';
import type { GateAnswer } from '#shared/graph/gates/gate-decision.ts';
import { pendingGateSchema } from '#shared/contract/gates/pending-gate.ts';
import { acceptChangesField } from '#shared/contract/gates/recheck.ts';
import { evalsSchema } from '#shared/contract/workflows/evaluation-check.ts';
import { checkpointSchema, stepCountSchema, stepSchema } from '#shared/contract/steps/step.ts';
import { MAX_STEPS_IN_RUN } from '#shared/limits.ts';
import { failureSchema } from './failure.ts';
import { failureKinds, runStatuses, triggers } from './run-kinds.ts';
import { skippedRunSchema } from '#shared/contract/limits/limits.ts';
import { queuedSchema } from '#shared/contract/limits/queued.ts';
import { waitingSchema } from '#shared/contract/waits/waiting.ts';
import { wordsIn } from '#shared/values/words.ts';
export const runStatusSchema = z.enum(runStatuses);
export const triggerSchema = z.enum(triggers);

/** A run in a list, without its payloads and steps. */
const summaryFields = {
  id: z.string(),
  run_id: z.string().meta({ description: 'The same as `id`' }),
  workspace_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  workflow_version: z.int().meta({ description: 'The version pinned when the run was triggered' }),
  status: runStatusSchema,
  trigger: triggerSchema,
  parent_run_id: z.string().nullable().meta({
    description: 'For the trigger `workflow`: the run that started it, unless it was deleted',
  }),
  parent_step_key: z.string().nullable().meta({ description: 'The step that started it' }),
  forked_from: z.string().nullable().meta({
    description: 'The run that it was started from again, unless that was deleted',
  }),
  forked_from_step: z.string().nullable().meta({
    description:
      'For a fork: the step from which it is executed. What that run had finished before is reused',
  }),
  of_draft: z
    .boolean()
    .meta({ description: 'It runs a draft, and not the graph of `workflow_version`' }),
  mode: z.literal('recorded').nullable().meta({
    description:
      'For a rehearsal: its steps take their results from the record of the run in `forked_from`, and nothing has an effect',
  }),
  inbound_event_id: z.string().nullable().meta({
    description: 'The event of the webhook that started it, or that it replays',
  }),
  error: z.string().nullable(),
  failure: failureSchema.nullable(),
  resumable: z.boolean(),
  cost_usd: dollars,
  unpriced_steps: z.int().meta({
    description:
      'Steps, turns of agents included, whose model has no price, so that `cost_usd` does not contain all of their cost',
  }),
  cost_cap_usd: dollars.nullable(),
  duration_ms: z.int().meta({
    description:
      'Active time: without waits for decisions, times, events, callbacks, calls and slots',
  }),
  waiting_ms: z.int().meta({
    description:
      'Time in which the run did nothing but wait, for a decision, a time, an event, a callback, a call or a slot',
  }),
  created_by: z.string().nullable().meta({ description: 'The member who triggered it' }),
  created_at: timestamp,
  started_at: timestamp.nullable(),
  finished_at: timestamp.nullable(),
  resumed_count: z.int(),
  queued: queuedSchema.nullable().meta({
    description:
      'For a run that waits because of a limit of its workflow: for what, and where in its queue',
  }),
};

export const runSummarySchema = z.object(summaryFields).meta({ id: 'RunSummary' });

/** A run in the pages of a list. */
const listedRunSchema = z
  .object({
    ...summaryFields,
    input_excerpt: z.string().nullable().meta({
      description:
        'The beginning of the input in one line, for people: `order: A-1042, amount: 240`. Null if it is empty or large',
    }),
  })
  .meta({ id: 'ListedRun' });

export const runSchema = z
  .object({
    ...summaryFields,
    input: jsonObject,
    state: jsonObject.nullable(),
    output: jsonValue.meta({
      description: 'Output keys of the nodes without a successor; null until then',
    }),
    children_cost_usd: dollars.meta({
      description:
        'The cost of the runs that it started, and of those that they started. It is not in `cost_usd`, but counts against `cost_cap_usd`',
    }),
    steps: z.array(stepSchema).meta({
      description: `In the order of their starts. Of a run with more than ${MAX_STEPS_IN_RUN}, the first so many: those outside of loops and maps, then those in them`,
    }),
    steps_next_cursor: z.string().nullable().meta({
      description:
        'The `cursor` of the other steps at `GET /api/runs/{id}/steps`; null if `steps` has all',
    }),
    step_counts: z.array(stepCountSchema).nullable().meta({
      description:
        'If `steps` does not have all: how many each node has, without the turns and calls of agents',
    }),
    checkpoints: z.array(checkpointSchema).meta({ description: 'Of the finished ones of `steps`' }),
    pending_gate: pendingGateSchema.nullable().meta({ description: 'The oldest open gate' }),
    pending_gates: z.array(pendingGateSchema).meta({
      description:
        'Every gate that can be decided now, oldest first. A run with other active branches may have some, too',
    }),
    event_id: z.string().nullable().meta({
      description: 'For the trigger `event`: the event that started it, as long as that is kept',
    }),
    waiting: z.array(waitingSchema).meta({
      description:
        'The steps that wait for a time, an event or a callback, oldest first, at most 100. They do not pause the run',
    }),
    evals: evalsSchema.nullable(),
    laid: z.record(z.string(), jsonObject).optional().meta({
      description:
        'For a fork, and a run that was started from one: what was merged into the state, by the step before which it was',
    }),
    graph: jsonObject
      .optional()
      .meta({ description: 'For a run of a draft: its graph, as a workflow has it' }),
    temporal: z.object({
      workflow_id: z.string(),
      run_id: z.string().nullable(),
      url: z.string().nullable().meta({
        description: "The run's page in the Temporal UI; null where TEMPORAL_UI_URL is not set",
      }),
    }),
  })
  .meta({ id: 'Run' });

/** The answer to a trigger: the run, or why there is none. */
export const startedRunSchema = z.union([runSchema, skippedRunSchema]);

export const runListSchema = z
  .object({ runs: z.array(listedRunSchema), next_cursor: nextCursor })
  .meta({ id: 'RunList' });

/** Several values of one parameter, separated by commas, since parameters cannot be repeated. */
const listOf = <Value extends string>(values: readonly Value[]) =>
  z
    .string()
    .transform((text, context) => {
      const given = [...new Set(text.split(','))];
      const known = given.flatMap((one) => values.find((value) => value === one) ?? []);
      if (known.length === given.length) return known;
      context.addIssue({
        code: 'custom',
        message: `must be one or several of ${values.join(', ')}, separated by commas`,
      });
      return z.NEVER;
    })
    .meta({ type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1 });

const MAX_QUERY = 200;
const MAX_QUERY_WORDS = 20;

const searchText = z
  .string()
  .max(MAX_QUERY)
  .check(({ value, issues }) => {
    const words = wordsIn(value).length;
    if (words > 0 && words <= MAX_QUERY_WORDS) return;
    const message =
      words === 0
        ? 'must contain a letter or a digit'
        : `must have at most ${MAX_QUERY_WORDS} words`;
    issues.push({ code: 'custom', message, input: value });
  })
  .meta({
    description:
      'Only runs with all of these words, or starts of words, in their id, input, output or error. It reads the first 8,000 characters of input and output, and finds a run a moment after it has started or ended',
    examples: ['invoice 4711'],
  });

export const MAX_DURATION_MS = 1_000_000_000_000;
const id = z.string().min(1).max(100);

const runListFields = z.strictObject({
  q: searchText.optional(),
  workflow_id: id.optional(),
  version: wholeNumber(1, 2_147_483_647)
    .optional()
    .meta({ description: 'Only runs of this version, without those of drafts' }),
  status: listOf(runStatuses)
    .optional()
    .meta({ description: 'One status, or several separated by commas' }),
  failure_kind: z.enum(failureKinds).optional(),
  trigger: triggerSchema.optional(),
  parent_run_id: id.optional().meta({ description: 'Only the runs that this run started' }),
  forked_from: id
    .optional()
    .meta({ description: 'Only the runs that were started from this one again' }),
  mode: z.enum(['live', 'recorded']).optional().meta({
    description: 'Only ordinary runs, or only rehearsals; by default both',
  }),
  since: timeInput.optional().meta({ description: 'Created at or after' }),
  until: timeInput.optional().meta({ description: 'Created before' }),
  min_cost_usd: dollarsText.optional().meta({ description: 'Cost of at least this' }),
  max_cost_usd: dollarsText.optional().meta({ description: 'Cost of at most this' }),
  min_duration_ms: wholeNumber(0, MAX_DURATION_MS)
    .optional()
    .meta({ description: 'Active time of at least this' }),
  max_duration_ms: wholeNumber(0, MAX_DURATION_MS)
    .optional()
    .meta({ description: 'Active time of at most this' }),
  ...pageQuery.shape,
});

/** In each pair, the first must not be greater than the second. */
const ranges = [
  ['since', 'until'],
  ['min_cost_usd', 'max_cost_usd'],
  ['min_duration_ms', 'max_duration_ms'],
] as const;

/** Refuses empty ranges. */
export const refuseEmptyRanges = refuseEmpty(ranges);

export const runListQuery = runListFields.check(refuseEmptyRanges);

/** Like `runListQuery`, without the workflow, which is in the path. */
export const workflowRunsQuery = runListFields.omit({ workflow_id: true }).check(refuseEmptyRanges);

const runFilterFields = runListFields.omit({ cursor: true, limit: true });

/** The filters of a saved view. */
export const runViewFilter = runFilterFields.check(refuseEmptyRanges);

/** The filters of an export of runs, and its format. */
export const runExportQuery = runFilterFields
  .extend({
    format: z.enum(['csv', 'ndjson']).default('csv').meta({
      description:
        '`csv`: a header row and a row per run (RFC 4180); `ndjson`: a JSON object per line',
    }),
  })
  .check(refuseEmptyRanges);

/** The columns of a CSV export. */
export const runExportColumns = Object.keys(summaryFields) as (keyof typeof summaryFields)[];

/** The filters of a list of runs, as arguments of a tool. */
export const runListShape = runListFields.shape;

const approvalSchema = z
  .object({
    run_id: z.string(),
    workflow_id: z.string(),
    workflow_name: z.string(),
    ...pendingGateSchema.shape,
  })
  .meta({ id: 'Approval' });

export const approvalListSchema = z
  .object({ approvals: z.array(approvalSchema), next_cursor: nextCursor })
  .meta({ id: 'ApprovalList' });

/** Any object. An absent body is an empty input. */
export const runInputBody = jsonObject.nullish().meta({
  description: 'The run input: any JSON object. No body means `{}`',
  examples: [{ ticket: 'I was charged twice' }],
});

/** What to run: the current version, or the draft. */
export const runStartQuery = z.strictObject({
  draft: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: "With `true`, runs the workflow's draft, and not its current version" }),
});

/** A person's decision at a gate, as requests and tools send it. */
export const gateAnswerFields = {
  approved: z.boolean().default(true),
  input: jsonObject.optional().meta({
    description: 'Merged into the run state. It must fit the `input_schema` of the gate',
  }),
  reason: z.string().trim().max(1_000).optional().meta({
    description:
      'The reason: stored with the decision, and shown in the error of a run that it fails',
  }),
} satisfies Record<keyof GateAnswer, z.ZodType>;

/** What a decision is bound to. */
export const boundDecisionFields = {
  digest: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/, 'must be the digest of an open gate')
    .optional()
    .meta({
      description:
        'The `digest` of the gate, so that the decision counts only for what was shown. Required for one of kind `tool_call`',
    }),
  arguments: jsonObject.optional().meta({
    description:
      'Of an approved tool call: the arguments to send instead. They must fit the schema of the tool',
  }),
};

export const onlyCheckField = z.boolean().default(false).meta({
  description: 'True: refuses what could not be decided like this, and decides nothing',
});

/** The gate to decide. */
export const gateChoiceFields = {
  node_id: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .meta({ description: 'The gate, when several are open; by default the oldest' }),
  step_key: z.string().min(1).max(1_000).optional().meta({
    description:
      "The gate's round, from `pending_gates`: a gate in a loop opens once per iteration",
  }),
};

/** A run, with what a decision about it would set in motion. */
export const checkedRunSchema = runSchema
  .extend({
    shown: shownSchema.optional().meta({
      description:
        'With `only_check`: what the gate sets in motion with this `input`, and the digest to send with the decision',
    }),
  })
  .meta({ id: 'CheckedRun' });

export type CheckedRun = z.infer<typeof checkedRunSchema>;

export const decisionBody = z
  .strictObject({
    ...gateAnswerFields,
    ...gateChoiceFields,
    ...boundDecisionFields,
    ...acceptChangesField,
    only_check: onlyCheckField,
  })
  .nullish()
  .meta({ examples: [{ approved: true, input: { note: 'fine by me' }, reason: 'as agreed' }] });

/** Which gate is assigned, and to whom. */
export const assignmentFields = {
  ...gateChoiceFields,
  member_id: z.string().min(1).max(100).nullable().meta({
    description: 'One of the `eligible_members` of the gate; null takes the assignment back',
  }),
};

export const assignmentBody = z
  .strictObject(assignmentFields)
  .meta({ examples: [{ member_id: null }] });

/** Open gates: all, or those of one assignee. */
export const approvalListQuery = pageQuery.extend({
  assigned_to: z.string().min(1).max(100).optional().meta({
    description: 'Only gates that this member is expected to decide: a member id, or `me`',
  }),
});

/** A key for a request, so that sending it twice starts one run. */
export const idempotencyKeySchema = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 printable ASCII characters');

export type RunListQuery = z.output<typeof runListQuery>;
export type RunStatus = z.infer<typeof runStatusSchema>;
export type Trigger = z.infer<typeof triggerSchema>;
export type Failure = z.infer<typeof failureSchema>;
export type RunSummary = z.infer<typeof runSummarySchema>;
export type ListedRun = z.infer<typeof listedRunSchema>;
export type Run = z.infer<typeof runSchema>;
export type Approval = z.infer<typeof approvalSchema>;
