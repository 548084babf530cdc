import { dryRunBody, dryRunSchema } from '#shared/contract/workflows/dry-run.ts';
import { dryRunWorkflow } from '#shared/operations/workflows/dry-run.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { idParams, responses } from '#api/http/responses.ts';

/** What a run would do, before it runs. */
export function dryRunRoutes(app: App, context: RouteContext): void {
  app.post('/api/workflows/:id/dry-run', {
    schema: {
      operationId: 'dryRunWorkflow',
      summary: 'What a run would cost, take, need and be refused, without running it',
      description:
        'Executes, reserves and records nothing. The bounds hold for every run with this input, or without one for every ' +
        'run: failures, retries, loops, maps and the runs that it starts are counted; resumes and the time that steps wait ' +
        'for a worker are not. `unbounded` names the nodes without a bound. The input is checked as for a run.',
      params: idParams,
      body: dryRunBody,
      response: responses({ 200: dryRunSchema }, 'unprocessable'),
    },
    config: { capability: 'run_workflows' },
    handler: async ({ actor, params, body }) =>
      dryRunWorkflow(context, { actor, workflowId: params.id, ...body }),
  });
}
