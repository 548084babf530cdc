import {
  backtestBody,
  backtestListSchema,
  backtestQuery,
  backtestSchema,
} from '#shared/contract/policies/backtest.ts';
import { emptyBody, pageQuery } from '#shared/contract/common.ts';
import { startedJobSchema } from '#shared/contract/jobs/job.ts';
import {
  cancelBacktest,
  listBacktests,
  readBacktest,
  startBacktest,
} from '#shared/operations/policies/backtests.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { idParams, responses } from '#api/http/responses.ts';

/** Members who can read policies can also read what other policies would do. */
const reads = { capability: 'view' } as const;
const config = { capability: 'manage_workspace' } as const;
const url = '/api/workspace/policies/backtest';
const params = idParams;

/** Policies that are not in force, tried on recorded steps. */
export function backtestRoutes(app: App, context: RouteContext): void {
  app.route({
    method: 'POST',
    url,
    schema: {
      operationId: 'startBacktest',
      summary: 'Try policies on history',
      description:
        'Judges the recorded steps of all runs that were created since a time by policies that are not in force: what ' +
        'they would block or redact that was not, and what they would allow that was not. Nothing is executed or ' +
        'changed. The answer comes at once; read the backtest to follow it.',
      body: backtestBody,
      response: responses({ 202: startedJobSchema }, 'not_found', 'conflict'),
    },
    config: { ...config, idempotent: true },
    handler: async (request, reply) => {
      const { actor, body } = request;
      const started = await answerOnce(context, request, reply, async (db) => {
        const { started: answer, dispatched } = await startBacktest(
          { ...context, db },
          actor,
          body,
        );
        return { answer, dispatched };
      });
      return reply.code(202).send(started);
    },
  });

  app.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listBacktests',
      summary: 'List backtests of policies, newest first',
      querystring: pageQuery,
      response: responses({ 200: backtestListSchema }),
    },
    config: reads,
    handler: ({ actor, query }) => listBacktests(context, actor.workspaceId, query),
  });

  app.get(`${url}/:id`, {
    schema: {
      operationId: 'getBacktest',
      summary: 'Read a backtest with a page of its steps',
      description:
        'Also while it is running. A step is blocked or redacted by policies as its stored input shows, which is the one ' +
        'after redaction.',
      params,
      querystring: backtestQuery,
      response: responses({ 200: backtestSchema }),
    },
    config: reads,
    handler: ({ actor, params: { id }, query }) =>
      readBacktest(context, { workspaceId: actor.workspaceId, jobId: id }, query),
  });

  app.post(`${url}/:id/cancel`, {
    schema: {
      operationId: 'cancelBacktest',
      summary: 'Cancel a running backtest',
      description: 'It ends within seconds. What it has found so far is kept.',
      params,
      body: emptyBody,
      response: responses({ 200: startedJobSchema }, 'conflict'),
    },
    config,
    handler: ({ actor, params: { id } }) => cancelBacktest(context, actor, id),
  });
}
