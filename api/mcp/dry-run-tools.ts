import { z } from 'zod';
import { dryRunFields, dryRunSchema } from '#shared/contract/workflows/dry-run.ts';
import { withOneGraph } from '#shared/contract/forks/fork.ts';
import { dryRunWorkflow } from '#shared/operations/workflows/dry-run.ts';
import { defineTool, looksOnly, type McpTool } from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

export const dryRunTools: readonly McpTool[] = [
  defineTool({
    name: 'dry_run_workflow',
    title: 'Dry run a workflow',
    description:
      'Says what a run would cost and take, at least and at most, what the policies block, which budgets have room, which ' +
      'gates wait for whom, and which hosts, secrets and connections it uses. Executes nothing. Use it before run_workflow when a run ' +
      'could be expensive, or to see the effect of a draft. unbounded names the nodes without a bound.',
    capability: 'run_workflows',
    annotations: looksOnly,
    input: withOneGraph(z.strictObject({ workflow: workflowArgument, ...dryRunFields })),
    output: dryRunSchema,
    handle: async (call, { workflow, ...given }) => {
      const { workflowId } = await scopeOf(call, workflow);
      return dryRunWorkflow(call.context, { actor: call.actor, workflowId, ...given });
    },
  }),
];
