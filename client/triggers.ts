import { onceOf, type TriggerOptions } from './idempotency.ts';
import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type { EventTrigger } from './types.ts';

export function triggerMethods(send: Send) {
  return {
    listEventTriggers: (
      workflowId: string,
      query: QueryOf<'GET /api/workflows/{id}/triggers'> = {},
      options?: CallOptions,
    ): Promise<EventTrigger[]> =>
      wholeList(
        (page) => send('GET /api/workflows/{id}/triggers', [workflowId], { query: page, options }),
        query,
      ),
    /** Starts a run of the workflow for each later event that matches. */
    createEventTrigger: (
      workflowId: string,
      body: BodyOf<'POST /api/workflows/{id}/triggers'>,
      options?: TriggerOptions,
    ): Promise<EventTrigger> =>
      send('POST /api/workflows/{id}/triggers', [workflowId], { body, ...onceOf(options) }),
    getEventTrigger: (triggerId: string, options?: CallOptions): Promise<EventTrigger> =>
      send('GET /api/triggers/{id}', [triggerId], { options }),
    /** Omitted fields are unchanged. */
    updateEventTrigger: (
      triggerId: string,
      body: BodyOf<'PUT /api/triggers/{id}'>,
      options?: WriteOptions,
    ): Promise<EventTrigger> => send('PUT /api/triggers/{id}', [triggerId], { body, options }),
    /** Deletes a trigger. Runs that it started continue. */
    deleteEventTrigger: (triggerId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/triggers/{id}', [triggerId], { options }),
  };
}
