import { z } from 'zod';
import { jsonValue } from '#shared/contract/common.ts';
import { graphReportSchema } from '#shared/contract/workflows/graph.ts';
import { usageSchema } from '#shared/contract/money/usage.ts';
import { evaluationChecksInput } from '#shared/contract/workflows/evaluation-check.ts';
import { workflowFields, workflowSchema } from '#shared/contract/workflows/workflow.ts';
import type { Pool } from '#shared/db/pool.ts';
import { readUsage } from '#shared/db/money/usage.ts';
import {
  findWorkflowId,
  listWorkflows,
  readWorkflow,
  replaceChecks,
  updateWorkflow,
} from '#shared/db/workflows/workflows.ts';
import { validateWorkflow } from '#shared/operations/workflows/validate-workflow.ts';
import { isIdOf } from '#shared/crypto/ids.ts';
import { comparingWrites } from '#api/http/conditional.ts';
import { changes, defineTool, ifMatchArgument, looksOnly, matchOf, type ToolCall } from './tool.ts';

/** The argument that identifies a workflow. */
export const workflowArgument = z.string().min(1).max(200).meta({
  description: 'Id (wf_...) or exact name of the workflow',
});

/** The arguments of a list that `offset` pages. */
export const pageArguments = {
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).max(10_000).default(0),
};

/**
 * The named workflow. A value that looks like an id is always an id. Throws AppError `not_found` for an unknown name,
 * and `conflict` for a name that several workflows have.
 */
export async function scopeOf({ context, actor }: ToolCall, workflow: string) {
  const { workspaceId } = actor;
  const workflowId = isIdOf('workflow', workflow)
    ? workflow
    : await findWorkflowId(context.db, { workspaceId, name: workflow });
  return { workspaceId, workflowId };
}

/** The API's own record, without metadata that only its documents use. */
const listedWorkflow = workflowSchema.omit({
  workspace_id: true,
  graph: true,
  checks: true,
  created_by: true,
});

/** The API's schema of a graph is for its documents; models need all parts in full. */
const shownWorkflow = workflowSchema.extend({
  graph: z.looseObject({ nodes: z.array(jsonValue), edges: z.array(jsonValue) }),
});

const workflowMatch = ifMatchArgument('workflow');

const writesOf = (
  call: ToolCall,
  scope: { workspaceId: string; workflowId: string },
  etag: string | undefined,
): Pool =>
  comparingWrites(call.context.db, matchOf(etag), {
    ...{ noun: 'workflow', workspaceId: scope.workspaceId, id: scope.workflowId },
    read: (tx) => readWorkflow(tx, scope),
  });

export const workflowTools = [
  defineTool({
    name: 'list_workflows',
    title: 'List workflows',
    description:
      'Lists the workflows of the workspace, newest first, with what each is for and how its runs ended. The input_schema ' +
      'or the description says what the input contains. Use it to find what to pass to run_workflow or get_workflow.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({
      search: z
        .string()
        .max(200)
        .optional()
        .meta({ description: 'Only those with this text in their name or description' }),
      limit: z.int().min(1).max(200).default(50),
    }),
    output: z.object({
      workflows: z.array(listedWorkflow),
      total: z.int().meta({ description: 'How many match, also beyond the limit' }),
    }),
    handle: async ({ context, actor }, { search = '', limit }) => {
      const wanted = search.toLowerCase();
      const found = (await listWorkflows(context.db, actor.workspaceId)).filter(
        ({ name, description }) => `${name}\n${description}`.toLowerCase().includes(wanted),
      );
      return { workflows: found.slice(0, limit), total: found.length };
    },
  }),
  defineTool({
    name: 'get_workflow',
    title: 'Read a workflow',
    description:
      'Reads one workflow: its graph of nodes and edges, the checks that score its runs, and how they ended.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument }),
    output: shownWorkflow,
    handle: async (call, { workflow }) =>
      readWorkflow(call.context.db, await scopeOf(call, workflow)),
  }),
  defineTool({
    name: 'update_workflow',
    title: 'Change the settings of a workflow',
    description:
      'Changes the name, the description, the cost limit of each run (run_cap_usd; null removes it), or whether a version is ' +
      'published only after an experiment. What is absent stays. The graph is changed with save_draft. Open runs keep their ' +
      'limit. A workflow in use also needs the permissions to publish and run it.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({
      workflow: workflowArgument,
      ...workflowFields.omit({ graph: true, input_schema: true }).shape,
      if_match: workflowMatch,
    }),
    output: shownWorkflow,
    handle: async (call, { workflow, if_match: etag, ...change }) => {
      const scope = await scopeOf(call, workflow);
      await updateWorkflow(writesOf(call, scope, etag), call.actor, scope.workflowId, change);
      return readWorkflow(call.context.db, scope);
    },
  }),
  defineTool({
    name: 'set_checks',
    title: 'Replace the checks of a workflow',
    description:
      'Replaces the checks that score each successful run of a workflow, for evals of a run and for experiments. An ' +
      'expression reads the state, output, cost_usd and duration_ms; without target, a text check reads the output.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({
      workflow: workflowArgument,
      checks: evaluationChecksInput,
      if_match: workflowMatch,
    }),
    output: shownWorkflow,
    handle: async (call, { workflow, checks, if_match: etag }) => {
      const scope = await scopeOf(call, workflow);
      await replaceChecks(writesOf(call, scope, etag), call.actor, scope.workflowId, checks);
      return readWorkflow(call.context.db, scope);
    },
  }),
  defineTool({
    name: 'validate_workflow',
    title: 'Validate a workflow',
    description:
      'Checks whether the saved graph can run and reports every error and warning at once, with the node of each' +
      '. A workflow with errors cannot be run.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument }),
    output: graphReportSchema,
    handle: async (call, { workflow }) =>
      validateWorkflow(call.context.db, await scopeOf(call, workflow), call.context.config.models),
  }),
  defineTool({
    name: 'get_usage',
    title: 'Read the usage of this month',
    description:
      'Reads how many runs of the monthly quota are used and what the runs of this month cost in US dollars.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({}),
    output: usageSchema,
    handle: async ({ context, actor }) => readUsage(context.db, { workspaceId: actor.workspaceId }),
  }),
];
