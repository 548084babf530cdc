import { z } from 'zod';
import { budgetInput, budgetSchema, budgetUpdate } from '#shared/contract/money/budget.ts';
import {
  createBudget,
  deleteBudget,
  listBudgets,
  readBudget,
  updateBudget,
} from '#shared/db/money/budgets.ts';
import type { Pool } from '#shared/db/pool.ts';
import { comparingWrites } from '#api/http/conditional.ts';
import {
  changes,
  defineTool,
  ifMatchArgument,
  looksOnly,
  matchOf,
  type McpTool,
  type ToolCall,
} from './tool.ts';
import { pageArguments, scopeOf, workflowArgument } from './workflow-tools.ts';

/** The workflow decides the scope. */
const { scope: _scope, workflow_id: _workflow, ...newFields } = budgetInput.shape;

const budgetId = z.string().min(1).max(100).meta({ description: 'Id of the budget (bud_...)' });
const budgetMatch = ifMatchArgument('budget');

const scope = ({ actor }: ToolCall, id: string) => ({
  workspaceId: actor.workspaceId,
  budgetId: id,
});
const writesOf = (call: ToolCall, id: string, etag: string | undefined): Pool =>
  comparingWrites(call.context.db, matchOf(etag), {
    noun: 'budget',
    workspaceId: call.actor.workspaceId,
    id,
    read: (tx) => readBudget(tx, scope(call, id)),
  });

export const budgetTools: readonly McpTool[] = [
  defineTool({
    name: 'list_budgets',
    title: 'List budgets',
    description:
      'Lists the budgets, oldest first: what each limits, and what is spent, reserved and left in its window. A run must ' +
      'fit every budget that applies to it.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject(pageArguments),
    output: z.object({ budgets: z.array(budgetSchema) }),
    handle: async ({ context, actor }, page) => ({
      budgets: await listBudgets(context.db, actor.workspaceId, page),
    }),
  }),
  defineTool({
    name: 'create_budget',
    title: 'Create a budget',
    description:
      'Limits what runs cost in a window: those of one workflow, or without workflow all of the workspace. A run that ' +
      'does not fit is not started. Set reservation_estimate_usd to stop runs before the limit, not after it. To limit ' +
      'each single run, use run_cap_usd in create_workflow or update_workflow.',
    capability: 'manage_workspace',
    annotations: changes,
    input: z.strictObject({
      workflow: workflowArgument.optional(),
      ...newFields,
    }),
    output: budgetSchema,
    handle: async (call, { workflow, ...limits }) => {
      const of =
        workflow === undefined
          ? ({ scope: 'workspace' } as const)
          : { scope: 'workflow' as const, workflow_id: (await scopeOf(call, workflow)).workflowId };
      const id = await createBudget(call.context.db, call.actor, { ...limits, ...of });
      return readBudget(call.context.db, scope(call, id));
    },
  }),
  defineTool({
    name: 'update_budget',
    title: 'Change a budget',
    description:
      'Changes the name, the limit, the estimate or the alerts of a budget, from the next run and the next step on. What is ' +
      'absent stays; null removes the estimate.',
    capability: 'manage_workspace',
    annotations: { ...changes, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({
      budget_id: budgetId,
      ...budgetUpdate.omit({ scope: true, workflow_id: true, window: true }).shape,
      if_match: budgetMatch,
    }),
    output: budgetSchema,
    handle: async (call, { budget_id: id, if_match: etag, ...change }) => {
      await updateBudget(writesOf(call, id, etag), call.actor, id, change);
      return readBudget(call.context.db, scope(call, id));
    },
  }),
  defineTool({
    name: 'delete_budget',
    title: 'Delete a budget',
    description: 'Deletes a budget. Runs continue without it, and nothing takes its place.',
    capability: 'manage_workspace',
    annotations: { ...changes, destructiveHint: true },
    input: z.strictObject({ budget_id: budgetId, if_match: budgetMatch }),
    output: z.object({ deleted: z.string() }),
    handle: async (call, { budget_id: id, if_match: etag }) => {
      await deleteBudget(writesOf(call, id, etag), call.actor, id);
      return { deleted: id };
    },
  }),
];
