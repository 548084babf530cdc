import { z } from 'zod';
import { overrunField } from '#shared/contract/money/budget.ts';
import {
  dollars,
  dollarsInput,
  jsonObject,
  jsonValue,
  offsetQuery,
  timestamp,
  wholeNumber,
} from '#shared/contract/common.ts';
import { draftGraphSchema } from './graph.ts';
import { evaluationChecksInput } from './evaluation-check.ts';
import { etag } from '#shared/contract/if-match.ts';
import { limitFields } from '#shared/contract/limits/limits.ts';

export const workflowStatuses = ['draft', 'published'] as const;

// Documents the contents of a runnable graph; a draft may contain anything.
const drawnPart = (noun: string) =>
  jsonValue.meta({
    anyOf: [
      { $ref: `#/components/schemas/${noun}Input` },
      { description: 'Anything else that was drawn. A graph that contains it cannot run' },
    ],
  });

/** A graph as saved, valid or not. */
const savedGraph = z
  .looseObject({ nodes: z.array(drawnPart('GraphNode')), edges: z.array(drawnPart('GraphEdge')) })
  .meta({ id: 'Graph', description: 'Nodes and edges as drawn' });

const drawnGraph = draftGraphSchema
  .extend({
    nodes: z.array(drawnPart('GraphNode')).default([]),
    edges: z.array(drawnPart('GraphEdge')).default([]),
  })
  .meta({ id: 'GraphDraft', description: 'Nodes and edges as drawn, runnable or not' });

/** The schema of a version's input; null accepts any object. */
export const inputSchemaField = jsonObject.nullable().meta({
  description:
    'JSON Schema, draft 2020-12 or 7, that the input of every run must fit; null accepts any object. Patterns are RE2; ' +
    '`format` is not checked; external references are not loaded. At most 65,536 characters and 40 levels',
});

const REQUIRES_EXPERIMENT =
  'It is published only after an experiment of exactly this graph and input schema that lost no check and failed no run';

const runStatsSchema = z
  .object({
    total: z.int(),
    success: z.int(),
    failed: z.int(),
    paused: z.int(),
    running: z.int().meta({ description: 'Including pending ones' }),
    success_rate: z
      .number()
      .meta({ description: 'Percent of the finished runs, one decimal; 0 when none finished' }),
    avg_cost_usd: dollars.nullable().meta({ description: 'Over the finished runs' }),
    avg_duration_ms: z
      .int()
      .nullable()
      .meta({ description: 'Over the finished runs, without the wait at gates' }),
    last_run_at: timestamp.nullable(),
  })
  .meta({ id: 'RunStats' });

export const workflowSchema = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    name: z.string(),
    description: z.string(),
    status: z.enum(workflowStatuses),
    version: z.int(),
    graph: savedGraph,
    input_schema: inputSchemaField,
    checks: z.array(jsonValue),
    run_cap_usd: dollars.nullable().meta({ description: 'The cost limit of one run' }),
    overrun: overrunField,
    requires_experiment: z.boolean().meta({ description: REQUIRES_EXPERIMENT }),
    stats: runStatsSchema,
    created_by: z.string().nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    has_draft: z.boolean().meta({ description: 'It has a draft, at `.../draft`' }),
    etag,
  })
  .meta({ id: 'Workflow' });

const name = z.string().trim().min(1).max(200);
const description = z.string().max(10_000);
const runCap = dollarsInput
  .nullable()
  .meta({ description: 'The cost limit of one run; null removes it' });

const requiresExperiment = z.boolean().meta({ description: REQUIRES_EXPERIMENT });

const exampleGraph = {
  nodes: [
    { id: 'draft', kind: 'agent', prompt: 'Answer {ticket}', model: 'mock' },
    { id: 'review', kind: 'human_gate', prompt: 'Send it?' },
  ],
  edges: [{ source: 'draft', target: 'review' }],
};

const exampleSchema = {
  type: 'object',
  properties: { ticket: { type: 'string', description: 'What the customer wrote' } },
  required: ['ticket'],
};

export const workflowCreateBody = z
  .strictObject({
    name,
    description: description.default(''),
    graph: drawnGraph.default({ nodes: [], edges: [] }),
    input_schema: inputSchemaField.optional(),
    run_cap_usd: runCap.optional(),
    overrun: overrunField.optional(),
    requires_experiment: requiresExperiment.optional(),
  })
  .meta({
    examples: [{ name: 'Answer tickets', graph: exampleGraph, input_schema: exampleSchema }],
  });

/** The maximum length of an author's note on a version, in characters. */
const MAX_NOTE = 1_000;
const note = z.string().trim().min(1).max(MAX_NOTE).optional();

/** What people edit of a workflow. */
export const workflowFields = z.strictObject({
  name: name.optional(),
  description: description.optional(),
  graph: drawnGraph.optional(),
  input_schema: inputSchemaField.optional(),
  run_cap_usd: runCap.optional(),
  overrun: overrunField.optional(),
  requires_experiment: requiresExperiment.optional(),
});

export const workflowUpdateBody = workflowFields
  .extend({
    note: note.meta({
      description: 'What the new version changes; only with `graph` or `input_schema`',
    }),
  })
  .refine(
    (body) =>
      body.note === undefined || body.graph !== undefined || body.input_schema !== undefined,
    { path: ['note'], message: 'belongs to a new version: add graph or input_schema' },
  )
  .meta({ examples: [{ name: 'Answer every ticket', run_cap_usd: 0.5 }] });

export const draftSchema = z
  .object({
    workflow_id: z.string(),
    base_version: z.int().meta({
      description: 'The version it began at; it can be published while this is the current version',
    }),
    revision: z.int().meta({ description: 'Counts the saves that changed something' }),
    graph: savedGraph,
    input_schema: inputSchemaField,
    created_at: timestamp,
    saved_by: z.string().nullable().meta({ description: 'The member who saved it last' }),
    saved_by_name: z.string().nullable(),
    saved_at: timestamp,
    etag,
  })
  .meta({ id: 'WorkflowDraft' });

export const workflowListQuery = offsetQuery.extend({
  include: z.enum(['limits']).optional().meta({ description: '`limits`: include the limits' }),
});
export type WorkflowListQuery = z.infer<typeof workflowListQuery>;

/** A workflow as the list returns it. */
export const listedWorkflowSchema = workflowSchema
  .extend({
    limits: z
      .object({ ...limitFields, etag })
      .meta({ id: 'ListedLimits' })
      .optional()
      .meta({
        description: 'Only with `include=limits`. The `etag` is that of `.../limits`',
      }),
  })
  .meta({ id: 'ListedWorkflow' });
export type ListedWorkflow = z.infer<typeof listedWorkflowSchema>;

export const workflowReadQuery = z.strictObject({
  include: z.enum(['draft']).optional().meta({ description: '`draft`: include the draft' }),
});

/** A workflow as its GET route returns it. */
export const workflowDetailSchema = workflowSchema
  .extend({
    draft: draftSchema
      .nullable()
      .optional()
      .meta({ description: 'Only with `include=draft`: null without a draft' }),
  })
  .meta({ id: 'WorkflowDetail' });

export const draftBody = z
  .strictObject({
    graph: drawnGraph.optional(),
    input_schema: inputSchemaField.optional(),
    base_version: z.int().min(1).max(2_147_483_647).optional().meta({
      description:
        'The version that the work began at; by default that of the draft, or the current one for a new draft',
    }),
  })
  .meta({ examples: [{ graph: exampleGraph, base_version: 1 }] });

export const validateBody = z
  .strictObject({
    graph: drawnGraph.optional().meta({ description: 'Checked instead of the saved graph' }),
    input_schema: inputSchemaField
      .optional()
      .meta({ description: 'Taken instead of that of the current version' }),
  })
  .meta({ examples: [{ graph: exampleGraph, input_schema: exampleSchema }] })
  .nullish();

export const publishBody = z
  .strictObject({
    from_draft: z.literal(true).optional().meta({
      description:
        'Makes the draft the current version; without it the current version is published',
    }),
    note: note.meta({
      description: 'What the version changes; only with `from_draft`',
    }),
  })
  .refine(({ from_draft: fromDraft, note }) => note === undefined || fromDraft === true, {
    path: ['note'],
    message: 'belongs to a version that is published from a draft: add from_draft',
  })
  .meta({ examples: [{ from_draft: true, note: 'Asks before it answers' }] })
  .nullish();

export const checksBody = evaluationChecksInput.meta({
  examples: [[{ name: 'is polite', type: 'contains', target: 'draft', value: 'thank' }]],
});

const versionFields = {
  workflow_id: z.string(),
  version: z.int(),
  created_by: z.string().nullable().meta({ description: 'The member who wrote it' }),
  created_by_name: z.string().nullable(),
  note: z.string().nullable().meta({ description: 'What its author said about it' }),
  created_at: timestamp,
};

export const workflowVersionSchema = z
  .object({ ...versionFields, graph: savedGraph, input_schema: inputSchemaField })
  .meta({ id: 'WorkflowVersion' });

const versionSummarySchema = z
  .object({ ...versionFields, nodes: z.int(), edges: z.int() })
  .meta({ id: 'WorkflowVersionSummary' });

export const versionListSchema = z
  .object({ versions: z.array(versionSummarySchema), next_cursor: z.string().nullable() })
  .meta({ id: 'WorkflowVersionList' });

export const diffQuery = z.strictObject({
  from: wholeNumber(1, 2_147_483_647),
  to: wholeNumber(1, 2_147_483_647),
});

export type Workflow = z.infer<typeof workflowSchema>;
export type WorkflowVersion = z.infer<typeof workflowVersionSchema>;
export type WorkflowCreate = z.infer<typeof workflowCreateBody>;
export type WorkflowUpdate = z.infer<typeof workflowUpdateBody>;
export type WorkflowDraft = z.infer<typeof draftSchema>;
export type DraftInput = z.infer<typeof draftBody>;
