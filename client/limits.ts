import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { RunQueue, WorkflowLimits } from './types.ts';

export function limitMethods(send: Send) {
  return {
    /** Who holds the slots of the limits, and who waits: at most 200 queues at a time. */
    listQueues: (
      query: QueryOf<'GET /api/queues'> = {},
      options?: CallOptions,
    ): Promise<RunQueue[]> => send('GET /api/queues', [], { query, options }),
    getLimits: (workflowId: string, options?: CallOptions): Promise<WorkflowLimits> =>
      send('GET /api/workflows/{id}/limits', [workflowId], { options }),
    /** Replaces all limits of the workflow. */
    setLimits: (
      workflowId: string,
      body: BodyOf<'PUT /api/workflows/{id}/limits'>,
      options?: WriteOptions,
    ): Promise<WorkflowLimits> =>
      send('PUT /api/workflows/{id}/limits', [workflowId], { body, options }),
  };
}
