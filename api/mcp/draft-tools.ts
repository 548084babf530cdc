import { z } from 'zod';
import { jsonValue } from '#shared/contract/common.ts';
import {
  draftBody,
  draftSchema,
  publishBody,
  workflowSchema,
} from '#shared/contract/workflows/workflow.ts';
import { discardDraft, readDraft, saveDraft } from '#shared/db/workflows/drafts.ts';
import { readWorkflow } from '#shared/db/workflows/workflows.ts';
import { publishFromDraft } from '#shared/operations/workflows/publish-draft.ts';
import { requireInputSchema } from '#shared/operations/workflows/workflow-input.ts';
import { defineTool, ifMatchArgument, looksOnly, matchOf } from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

const draftMatch = ifMatchArgument('draft').meta({
  description: 'The etag of the draft as you read it. Required once there is a draft',
});

// The API's schema is for its documents; models need all parts in full.
const drawn = z.looseObject({ nodes: z.array(jsonValue), edges: z.array(jsonValue) });
const draftResult = draftSchema.extend({ graph: drawn });
const changes = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

export const draftTools = [
  defineTool({
    name: 'get_draft',
    title: 'Read a draft',
    description:
      'Reads what is being edited of a workflow beside its current version, with its etag. Nothing runs a draft.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument }),
    output: draftResult,
    handle: async (call, { workflow }) => readDraft(call.context.db, await scopeOf(call, workflow)),
  }),
  defineTool({
    name: 'save_draft',
    title: 'Save a draft',
    description:
      'Saves a graph or an input_schema as the draft of a workflow, complete or not; what you omit is unchanged. It changes no ' +
      'run until someone publishes it. When there is a draft already, pass its etag as if_match; if someone else has saved ' +
      'meanwhile, the call is refused with their draft.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, idempotentHint: true },
    input: z.strictObject({
      workflow: workflowArgument,
      ...draftBody.shape,
      graph: drawn.optional().meta({ description: 'The whole graph, as get_workflow returns it' }),
      if_match: draftMatch,
    }),
    output: draftResult,
    handle: async (call, { workflow, if_match: etag, ...input }) => {
      const { workspaceId, workflowId } = await scopeOf(call, workflow);
      await requireInputSchema(workspaceId, input.input_schema);
      const wanted = { input, ifMatch: matchOf(etag) };
      const { draft } = await saveDraft(call.context.db, call.actor, workflowId, wanted);
      return draft;
    },
  }),
  defineTool({
    name: 'discard_draft',
    title: 'Discard a draft',
    description:
      'Deletes the draft of a workflow. You cannot undo this. The current version is unchanged.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true, idempotentHint: false },
    input: z.strictObject({ workflow: workflowArgument, if_match: draftMatch }),
    output: z.object({ discarded: z.literal(true) }),
    handle: async (call, { workflow, if_match: etag }) => {
      const { workflowId } = await scopeOf(call, workflow);
      await discardDraft(call.context.db, call.actor, workflowId, matchOf(etag));
      return { discarded: true as const };
    },
  }),
  defineTool({
    name: 'publish_draft',
    title: 'Publish a draft',
    description:
      'Makes the draft the current version: every run, webhook and schedule uses it from then on. It must be valid and have ' +
      'begun at the current version.',
    capability: 'publish_workflows',
    annotations: { ...changes, destructiveHint: true, idempotentHint: false },
    input: z.strictObject({
      workflow: workflowArgument,
      note: publishBody.unwrap().unwrap().shape.note,
      if_match: draftMatch,
    }),
    output: workflowSchema.extend({ graph: drawn }),
    handle: async (call, { workflow, note, if_match: etag }) => {
      const scope = await scopeOf(call, workflow);
      const { db, config } = call.context;
      const wanted = { ifMatch: matchOf(etag), note, models: config.models };
      await publishFromDraft(db, call.actor, scope.workflowId, wanted);
      return readWorkflow(db, scope);
    },
  }),
];
