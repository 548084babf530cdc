import { z } from 'zod';
import { jsonValue } from '#shared/contract/common.ts';
import { graphReportSchema } from '#shared/contract/workflows/graph.ts';
import { usageSchema } from '#shared/contract/money/usage.ts';
import { workflowSchema } from '#shared/contract/workflows/workflow.ts';
import { readUsage } from '#shared/db/money/usage.ts';
import { findWorkflowId, listWorkflows, readWorkflow } from '#shared/db/workflows/workflows.ts';
import { validateWorkflow } from '#shared/operations/workflows/validate-workflow.ts';
import { isIdOf } from '#shared/crypto/ids.ts';
import { defineTool, looksOnly, type ToolCall } from './tool.ts';

/** The argument that identifies a workflow. */
export const workflowArgument = z.string().min(1).max(200).meta({
  description: 'Id (wf_...) or exact name of the workflow',
});

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
    output: workflowSchema.extend({
      graph: z.looseObject({ nodes: z.array(jsonValue), edges: z.array(jsonValue) }),
    }),
    handle: async (call, { workflow }) =>
      readWorkflow(call.context.db, await scopeOf(call, workflow)),
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
