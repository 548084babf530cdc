import { z } from 'zod';
import {
  backtestFields,
  backtestQuery,
  backtestSchema,
} from '#shared/contract/policies/backtest.ts';
import { startedJobSchema } from '#shared/contract/jobs/job.ts';
import {
  cancelBacktest,
  readBacktest,
  startBacktest,
} from '#shared/operations/policies/backtests.ts';
import {
  callOnce,
  changes,
  defineTool,
  idempotencyKeyArgument,
  looksOnly,
  type McpTool,
} from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

const { policies, since } = backtestFields;
const backtest_id = z
  .string()
  .min(1)
  .max(200)
  .meta({ description: 'Id (job_...) of the backtest' });
const capability = 'manage_workspace';

/** Only people can change the policies themselves. */
export const policyTools: readonly McpTool[] = [
  defineTool({
    name: 'backtest_policies',
    title: 'Try policies on history',
    description:
      'Judges the recorded steps of all runs since a time by policies that are not in force, to find out what they would ' +
      'block, redact or allow before anyone puts them in force. Nothing is executed or changed. Returns at once; ' +
      'get_backtest has the result.',
    capability,
    annotations: changes,
    input: z.strictObject({
      policies,
      since,
      workflow: workflowArgument.optional(),
      idempotency_key: idempotencyKeyArgument,
    }),
    output: startedJobSchema,
    handle: async (call, args) => {
      const { workflow, idempotency_key: _key, ...given } = args;
      const workflow_id =
        workflow === undefined ? undefined : (await scopeOf(call, workflow)).workflowId;
      return callOnce(call, 'backtest_policies', args, async (db) => {
        const { started: answer, dispatched } = await startBacktest(
          { ...call.context, db },
          call.actor,
          { ...given, workflow_id },
        );
        return { answer, dispatched };
      });
    },
  }),
  defineTool({
    name: 'get_backtest',
    title: 'Read a backtest',
    description:
      'The progress and the result of a backtest of policies: its counts, and a page of the steps that would be judged ' +
      'differently, each with its run and the reason. While its status is running, read it again later.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({
      backtest_id,
      effect: backtestQuery.shape.effect,
      limit: z.int().min(1).max(200).default(20).meta({ description: 'Steps per page' }),
      cursor: backtestQuery.shape.cursor,
    }),
    output: backtestSchema,
    handle: ({ context, actor }, { backtest_id: jobId, ...query }) =>
      readBacktest(context, { workspaceId: actor.workspaceId, jobId }, query),
  }),
  defineTool({
    name: 'cancel_backtest',
    title: 'Cancel a backtest',
    description: 'Ends a running backtest of policies. What it has found so far is kept.',
    capability,
    annotations: { ...changes, idempotentHint: true },
    input: z.strictObject({ backtest_id }),
    output: startedJobSchema,
    handle: ({ context, actor }, { backtest_id: jobId }) => cancelBacktest(context, actor, jobId),
  }),
];
