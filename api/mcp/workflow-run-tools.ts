import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { presentedSchema } from '#shared/agents/presented-schema.ts';
import {
  findWorkflowTool,
  offeredWorkflows,
  type WorkflowTool,
} from '#shared/db/tools/workflow-tools.ts';
import type { JsonObject } from '#shared/json.ts';
import { next, runTools, startedRun } from './run-tools.ts';
import type { McpTool, ToolCall } from './tool.ts';

/** How long a call waits until its run ends or pauses. */
const WAIT_MS = 10_000;
const MAX_DESCRIPTION = 1_000;

/** The tool that starts any workflow. The tools of single workflows differ from it in name and arguments. */
const [general] = runTools;

/**
 * A tool for each published workflow that has an input schema, with that schema; see `offeredWorkflows` for the limits.
 * They change with the workflows, so each request reads them.
 */
export async function workflowRunTools(
  { context, actor }: Pick<ToolCall, 'context' | 'actor'>,
  isTaken: (name: string) => boolean,
): Promise<McpTool[]> {
  return (await offeredWorkflows(context.db, actor.workspaceId, isTaken)).map(toolOf);
}

/** The tool of a workflow; undefined if no workflow has this tool name. */
export async function findWorkflowRunTool(
  { context, actor }: Pick<ToolCall, 'context' | 'actor'>,
  tool: string,
  isTaken: (name: string) => boolean,
): Promise<McpTool | undefined> {
  const { workspaceId } = actor;
  const found = await findWorkflowTool(context.db, { workspaceId, tool }, isTaken);
  return found && toolOf(found);
}

function toolOf({ tool, workflowId, name, description, inputSchema }: WorkflowTool): McpTool {
  const about = [
    `Starts a run of the workflow '${name}' and waits up to ${WAIT_MS / 1_000} seconds for it. ${next}`,
    description.slice(0, MAX_DESCRIPTION).toWellFormed(),
  ];
  const text = about.filter((part) => part !== '').join('\n\n');
  return {
    ...general,
    name: tool,
    title: name,
    description: text,
    // The version that the run is pinned to determines whether they are valid.
    input: z.looseObject({}),
    handle: async (call, input) =>
      startedRun(call, { workflowId, input: input as JsonObject, waitMs: WAIT_MS }),
    listed: {
      ...general.listed,
      name: tool,
      title: name,
      description: text,
      annotations: { ...general.listed.annotations, title: name },
      inputSchema: presentedSchema(inputSchema) as Tool['inputSchema'],
    },
  };
}
