import { z } from 'zod';
import { limitsInput, limitsSchema } from '#shared/contract/limits/limits.ts';
import { queueSchema } from '#shared/contract/limits/queue.ts';
import { listQueues } from '#shared/db/limits/queue-list.ts';
import { setLimits, shownLimits } from '#shared/operations/limits/limits.ts';
import { comparingWrites } from '#api/http/conditional.ts';
import { changes, defineTool, ifMatchArgument, looksOnly, matchOf, type McpTool } from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

export const limitTools: readonly McpTool[] = [
  defineTool({
    name: 'get_limits',
    title: 'Read the limits of a workflow',
    description:
      'Reads how many runs of a workflow are in flight at a time, and what happens to further ones.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument }),
    output: limitsSchema,
    handle: async (call, { workflow }) =>
      shownLimits(call.context.db, await scopeOf(call, workflow)),
  }),
  defineTool({
    name: 'set_limits',
    title: 'Replace the limits of a workflow',
    description:
      'Replaces the limits of a workflow; without a limit, it has none. They count for all versions and drafts, and for ' +
      'whatever starts a run. The key is a template over the input of a run, such as {customer}: each value has its own limit. ' +
      'cancel_on has events that cancel open runs, each with a match over event and the input. ' +
      'With debounce, calls within some seconds share one run, which gets the last input.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({
      workflow: workflowArgument,
      ...limitsInput.shape,
      if_match: ifMatchArgument('workflow'),
    }),
    output: limitsSchema,
    handle: async (call, { workflow, if_match: etag, ...limits }) => {
      const scope = await scopeOf(call, workflow);
      const writes = comparingWrites(call.context.db, matchOf(etag), {
        ...{ noun: 'workflow', workspaceId: scope.workspaceId, id: scope.workflowId },
        read: (tx) => shownLimits(tx, scope),
      });
      await setLimits(writes, call.actor, scope.workflowId, limits);
      return shownLimits(call.context.db, scope);
    },
  }),
  defineTool({
    name: 'list_queues',
    title: 'List queues',
    description:
      'Lists, for each workflow and key with a limit, which runs are in flight and which wait, in order. cancel_run takes a run out.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument.optional() }),
    output: z.object({ queues: z.array(queueSchema) }),
    handle: async (call, { workflow }) => ({
      queues: [
        ...(await listQueues(call.context.db, {
          ...{ limit: 200, offset: 0, workspaceId: call.actor.workspaceId },
          workflow_id:
            workflow === undefined ? undefined : (await scopeOf(call, workflow)).workflowId,
        })),
      ],
    }),
  }),
];
