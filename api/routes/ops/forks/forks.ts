import { forkBody, forkSchema, rerunBody } from '#shared/contract/forks/fork.ts';
import { joined } from '#shared/values/json-text.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { startConfig, startedRun, startHeaders } from '#api/http/started-run.ts';
import { createRunActions, type RunActions } from '#api/run-actions.ts';

const refusals = ['quota_exceeded', 'budget_exceeded', 'conflict', 'unprocessable'] as const;

/** Runs that start from another run. */
export function forkRoutes(app: App, context: RouteContext): void {
  const actions = createRunActions(context);
  rerunRoute(app, actions);
  forkRoute(app, actions);
}

function rerunRoute(app: App, actions: RunActions): void {
  app.post('/api/runs/:id/rerun', {
    schema: {
      operationId: 'rerunRun',
      summary: 'Run again, with the same input and version or with others',
      description:
        'Starts a new run, and executes everything again. Its `forked_from` is this one. The other run can have any ' +
        'status, and does not change. With mode `recorded` it is a rehearsal: steps take their results from the record, ' +
        'and nothing has an effect. Returns 200 where the `Idempotency-Key` has started a run before.',
      params: idParams,
      headers: startHeaders,
      body: rerunBody,
      response: responses({ 200: forkSchema, 201: forkSchema }, ...refusals),
    },
    config: startConfig,
    handler: async ({ actor, params, body, headers }, reply) => {
      const { run, replayed, notReused } = await actions.rerun({
        actor,
        runId: params.id,
        trigger: 'manual',
        idempotencyKey: headers['idempotency-key'],
        ...body,
      });
      return joined(startedRun(reply, run, replayed), { not_reused: notReused });
    },
  });
}

function forkRoute(app: App, actions: RunActions): void {
  app.post('/api/runs/:id/fork', {
    schema: {
      operationId: 'forkRun',
      summary: 'Run again from a step, and reuse what was finished before',
      description:
        'Starts a new run with copies of all steps that were finished and do not depend on `from_step`: they have ' +
        '`reused_from`, and cost nothing. That step and what follows it are executed. With another graph or input, only ' +
        'steps whose node and input are the same are reused; `not_reused` names the others, which are executed again. ' +
        'With mode `recorded` it is a rehearsal, which takes also what follows from the record.',
      params: idParams,
      headers: startHeaders,
      body: forkBody,
      response: responses({ 200: forkSchema, 201: forkSchema }, ...refusals),
    },
    config: startConfig,
    handler: async ({ actor, params, body, headers }, reply) => {
      const { from_step: fromStep, ...given } = body;
      const { run, replayed, notReused } = await actions.fork({
        actor,
        runId: params.id,
        trigger: 'manual',
        idempotencyKey: headers['idempotency-key'],
        fromStep,
        ...given,
      });
      return joined(startedRun(reply, run, replayed), { not_reused: notReused });
    },
  });
}
