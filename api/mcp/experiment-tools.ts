import { z } from 'zod';
import {
  experimentFields,
  experimentListSchema,
  experimentQuery,
  experimentSchema,
  listedExperimentSchema,
} from '#shared/contract/experiments/experiment.ts';
import { rehearses } from '#shared/contract/forks/fork.ts';
import { startedJobSchema } from '#shared/contract/jobs/job.ts';
import { listExperiments, readExperiment } from '#shared/db/experiments/listing.ts';
import { listResults } from '#shared/db/experiments/results.ts';
import { requireWorkflow } from '#shared/db/workflows/workflows.ts';
import { cancelExperiment, startExperiment } from '#shared/operations/experiments/start.ts';
import {
  callOnce,
  changes,
  defineTool,
  idempotencyKeyArgument,
  looksOnly,
  type McpTool,
} from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

const experimentId = z.string().min(1).max(100).meta({ description: 'Id of the experiment' });
const pageSize = z.int().min(1).max(200).default(20);
const cursor = experimentQuery.shape.cursor;

export const experimentTools: readonly McpTool[] = [
  defineTool({
    name: 'start_experiment',
    title: 'Try a draft or a version on past runs',
    description:
      'Rehearses past runs of a workflow with its draft or with a version, in the background. Steps take their results ' +
      'from the records, so nothing has an effect; what has no record is executed only if allow names it. Call ' +
      'get_experiment with the id until the status is not running.',
    capability: 'run_workflows',
    annotations: { ...changes, openWorldHint: true },
    input: rehearses(
      z.strictObject({
        workflow: workflowArgument,
        ...experimentFields,
        idempotency_key: idempotencyKeyArgument,
      }),
    ),
    output: z.object(startedJobSchema.shape),
    handle: async (call, args) => {
      const { workflow, idempotency_key: _key, ...request } = args;
      const { workflowId } = await scopeOf(call, workflow);
      return callOnce(call, 'start_experiment', args, async (db) => {
        const stores = { ...call.context, db };
        const { dispatched, ...answer } = await startExperiment(
          stores,
          call.actor,
          workflowId,
          request,
        );
        return { answer, dispatched };
      });
    },
  }),
  defineTool({
    name: 'get_experiment',
    title: 'Read an experiment',
    description:
      'Reads the progress and the summary of an experiment, and its runs, the worst first: failed ones, lost checks, then ' +
      'changed outputs with their differences.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({
      experiment_id: experimentId,
      outcome: experimentQuery.shape.outcome,
      limit: pageSize,
      cursor,
    }),
    output: experimentSchema,
    handle: async (
      { context: { db }, actor: { workspaceId } },
      { experiment_id: id, ...page },
    ) => ({
      ...(await readExperiment(db, { workspaceId, id })),
      ...(await listResults(db, id, page)),
    }),
  }),
  defineTool({
    name: 'list_experiments',
    title: 'List experiments',
    description: 'Lists the experiments of a workflow with their summaries, newest first.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument, limit: pageSize, cursor }),
    output: experimentListSchema,
    handle: async (call, { workflow, ...page }) => {
      const { db } = call.context;
      const scope = await scopeOf(call, workflow);
      await requireWorkflow(db, scope);
      return listExperiments(db, scope, page);
    },
  }),
  defineTool({
    name: 'cancel_experiment',
    title: 'Cancel an experiment',
    description: 'Cancels a running experiment with its open rehearsals. What is done stays.',
    capability: 'run_workflows',
    annotations: { ...changes, destructiveHint: true },
    input: z.strictObject({ experiment_id: experimentId }),
    output: listedExperimentSchema,
    handle: async ({ context, actor }, { experiment_id: id }) => {
      await cancelExperiment(context, actor, id);
      return readExperiment(context.db, { workspaceId: actor.workspaceId, id });
    },
  }),
];
