import { z } from 'zod';
import { emptyBody, pageQuery } from '#shared/contract/common.ts';
import {
  type ComparedRun,
  experimentBody,
  experimentListSchema,
  experimentQuery,
  experimentSchema,
  listedExperimentSchema,
} from '#shared/contract/experiments/experiment.ts';
import { startedJobSchema } from '#shared/contract/jobs/job.ts';
import { listExperiments, readExperiment } from '#shared/db/experiments/listing.ts';
import { listResults } from '#shared/db/experiments/results.ts';
import { requireWorkflow } from '#shared/db/workflows/workflows.ts';
import { cancelExperiment, startExperiment } from '#shared/operations/experiments/start.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { csvHeader, csvLine } from '#api/http/csv.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { idParams, responses } from '#api/http/responses.ts';

/** Drafts and versions, tried on past runs. */
export function experimentRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.post('/api/workflows/:id/experiments', {
    schema: {
      operationId: 'startExperiment',
      summary: 'Try a draft or a version on past runs',
      description:
        'Rehearses each of the runs with the candidate, in the background: steps take their results from the record of the ' +
        'run, and nothing has an effect. What has no record is executed only if `allow` names it. What the draft contains ' +
        'now is what is tried.',
      params: idParams,
      body: experimentBody,
      response: responses({ 202: startedJobSchema }, 'conflict', 'unprocessable', 'graph_invalid'),
    },
    config: { capability: 'run_workflows', idempotent: true, headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, params, body } = request;
      const job = await answerOnce(context, request, reply, async (tx) => {
        const stores = { ...context, db: tx };
        const { dispatched, ...answer } = await startExperiment(stores, actor, params.id, body);
        return { answer, dispatched };
      });
      reply.code(202).header('location', `/api/experiments/${job.id}`);
      return job;
    },
  });

  app.get('/api/workflows/:id/experiments', {
    schema: {
      operationId: 'listExperiments',
      summary: 'List the experiments of a workflow, newest first',
      params: idParams,
      querystring: pageQuery,
      response: responses({ 200: experimentListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params, query }) => {
      const scope = { workspaceId, workflowId: params.id };
      await requireWorkflow(db, scope);
      return listExperiments(db, scope, query);
    },
  });

  app.get('/api/experiments/:id', {
    schema: {
      operationId: 'getExperiment',
      summary: 'Read an experiment, with its runs, the worst first',
      description:
        'While it runs, `runs` has those that are done, and a next page may miss runs that were done meanwhile. With ' +
        '`format=csv`, all runs as CSV (RFC 4180).',
      params: idParams,
      querystring: experimentQuery,
      response: responses({
        200: {
          description: 'The experiment',
          content: {
            'application/json': { schema: experimentSchema },
            'text/csv': { schema: z.string().meta({ description: 'One line per run' }) },
          },
        },
      }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params: { id }, query }, reply) => {
      const experiment = await readExperiment(db, { workspaceId, id });
      const { format, outcome, ...page } = query;
      if (format === 'csv') {
        const { runs } = await listResults(db, id, { outcome });
        reply.type('text/csv; charset=utf-8');
        reply.header('content-disposition', `attachment; filename="${id}.csv"`);
        return csvOf(runs);
      }
      return { ...experiment, ...(await listResults(db, id, { ...page, outcome })) };
    },
  });

  app.post('/api/experiments/:id/cancel', {
    schema: {
      operationId: 'cancelExperiment',
      summary: 'Cancel a running experiment',
      description: 'Cancels its open rehearsals, too. What is done stays.',
      params: idParams,
      body: emptyBody,
      response: responses({ 200: listedExperimentSchema }, 'conflict'),
    },
    config: { capability: 'run_workflows' },
    handler: async ({ actor, params: { id } }) => {
      await cancelExperiment(context, actor, id);
      return readExperiment(context.db, { workspaceId: actor.workspaceId, id });
    },
  });
}

const columns: Record<string, (run: ComparedRun) => unknown> = {
  run_id: (run) => run.run_id,
  rehearsal_run_id: (run) => run.rehearsal_run_id,
  outcome: (run) => run.outcome,
  reason: (run) => run.reason,
  checks_won: (run) => run.checks.won.join('; '),
  checks_lost: (run) => run.checks.lost.join('; '),
  base_cost_usd: (run) => run.cost_usd?.base,
  candidate_cost_usd: (run) => run.cost_usd?.candidate,
  base_duration_ms: (run) => run.duration_ms?.base,
  candidate_duration_ms: (run) => run.duration_ms?.candidate,
  diff: (run) => run.diff?.differences,
};

const csvOf = (runs: readonly ComparedRun[]): string =>
  [
    csvHeader(Object.keys(columns)),
    ...runs.map((run) => csvLine(Object.values(columns).map((cell) => cell(run)))),
  ].join('');
