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
    /** Ends a wait like an external system, with the token at the end of the address that a run has sent. */
    sendCallback: (
      token: string,
      body: unknown,
      options?: CallOptions,
    ): Promise<AnswerOf<'POST /api/callbacks/{token}'>> =>
      send('POST /api/callbacks/{token}', [token], { body, options }),
    /** A page of what open runs wait for, newest first. */
    listWaits: (
      query: QueryOf<'GET /api/waits'> = {},
      options?: CallOptions,
    ): Promise<AnswerOf<'GET /api/waits'>> => send('GET /api/waits', [], { query, options }),
    /** An event with the waits that it has ended, and the runs that it has started. */
    getWorkspaceEvent: (
      id: string,
      options?: CallOptions,
    ): Promise<AnswerOf<'GET /api/events/{id}'>> => send('GET /api/events/{id}', [id], { options }),
  };
}
