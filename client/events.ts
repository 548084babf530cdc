import type { CallOptions, Send } from './request.ts';
import type { AnswerOf, BodyOf, QueryOf } from './routes.ts';

export function eventMethods(send: Send) {
  return {
    /** Sends an event, which ends the waits for it. With an `id`, the same event is stored once. */
    sendWorkspaceEvent: (
      event: BodyOf<'POST /api/events'>,
      options?: CallOptions,
    ): Promise<AnswerOf<'POST /api/events'>> =>
      send('POST /api/events', [], { body: event, options }),
    /** A page of the events, newest first. */
    listWorkspaceEvents: (
      query: QueryOf<'GET /api/events'> = {},
      options?: CallOptions,
    ): Promise<AnswerOf<'GET /api/events'>> => send('GET /api/events', [], { query, options }),
    /** An event with the waits that it has ended. */
    getWorkspaceEvent: (
      id: string,
      options?: CallOptions,
    ): Promise<AnswerOf<'GET /api/events/{id}'>> => send('GET /api/events/{id}', [id], { options }),
  };
}
