import type { FastifyReply } from 'fastify';
import { nodeTestBody, nodeTestSchema } from '#shared/contract/workflows/node-test.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { markReplayed } from '#api/http/idempotency.ts';
import { responses, nodeParams } from '#api/http/responses.ts';
import { startHeaders } from '#api/http/started-run.ts';
import { createRunActions } from '#api/run-actions.ts';

/** Tests of single nodes. */
export function nodeTestRoutes(app: App, context: RouteContext): void {
  const actions = createRunActions(context);
  app.post('/api/workflows/:id/nodes/:node_id/test', {
    schema: {
      operationId: 'testNode',
      summary: 'Test one node with the state of a past run',
      description:
        'Rehearses this node alone, with the state that it had in a run or with the given one, and answers with its ' +
        'step. It is executed if it only computes or `allow` names it; conditions, loops and maps evaluate their ' +
        'expression. Nothing follows it, it counts against no quota, and the run of the test has mode `recorded`. ' +
        'Answers 202 where the test has not ended within 10 seconds: read its run.',
      params: nodeParams,
      headers: startHeaders,
      body: nodeTestBody,
      response: responses(
        { 200: nodeTestSchema, 202: nodeTestSchema },
        'budget_exceeded',
        'conflict',
        'unprocessable',
      ),
    },
    config: { capability: 'run_workflows', headers: ['Idempotent-Replayed'] },
    handler: async ({ actor, params, body, headers }, reply) => {
      const { run_id: runId, step_key: stepKey, ...given } = body;
      const place = { workflowId: params.id, nodeId: params.node_id, runId, stepKey };
      const idempotencyKey = headers['idempotency-key'];
      const request = { actor, trigger: 'manual', idempotencyKey, ...place, ...given } as const;
      const { tested, replayed } = await actions.testNode(request, untilGone(reply));
      if (replayed) markReplayed(reply);
      reply.code(tested.status === 'success' || tested.status === 'failed' ? 200 : 202);
      return tested;
    },
  });
}

/** Aborted when the caller disconnects. The request itself closes as soon as its body was read. */
function untilGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => gone.abort());
  return gone.signal;
}
