import { byCursor } from './pages.ts';
import type { CallOptions, Send } from './request.ts';
import type { AnswerOf, BodyOf, QueryOf } from './routes.ts';
import { onceOf, type TriggerOptions } from './idempotency.ts';
import type {
  EventReplay,
  HookEvent,
  ListedInboundEvent,
  ReceivedEvent,
  Run,
  StartedJob,
} from './types.ts';

type ListQuery = QueryOf<'GET /api/workflows/{id}/inbound-events'>;

export function inboundEventMethods(send: Send) {
  const listInboundEvents = (
    workflowId: string,
    query: ListQuery = {},
    options?: CallOptions,
  ): Promise<AnswerOf<'GET /api/workflows/{id}/inbound-events'>> =>
    send('GET /api/workflows/{id}/inbound-events', [workflowId], { query, options });
  return {
    /** One page of what the workflow's webhook received, newest first. */
    listInboundEvents,
    /** What the workflow's webhook received, newest first. Requests each page when it is needed. */
    inboundEvents: (
      workflowId: string,
      query: ListQuery = {},
      options?: CallOptions,
    ): AsyncGenerator<ListedInboundEvent, void, undefined> =>
      byCursor(
        (cursor) =>
          listInboundEvents(
            workflowId,
            { ...query, ...(cursor === undefined ? {} : { cursor }) },
            options,
          ),
        ({ events }) => events,
      ),
    /** An event with its headers and body. */
    getInboundEvent: (eventId: string, options?: CallOptions): Promise<ReceivedEvent> =>
      send('GET /api/inbound-events/{id}', [eventId], { options }),
    /** Starts a run with the input of an event, under the present conditions, or sends it if the webhook sends events. */
    replayInboundEvent: (
      eventId: string,
      body: NonNullable<BodyOf<'POST /api/inbound-events/{id}/replay'>> = {},
      options?: TriggerOptions,
    ): Promise<Run | HookEvent> =>
      send('POST /api/inbound-events/{id}/replay', [eventId], {
        body,
        ...onceOf(options),
      }),
    ...replayMethods(send),
  };
}

function replayMethods(send: Send) {
  return {
    /** Starts runs with the inputs of the events in a range, or sends them, in the background. */
    replayInboundEvents: (
      workflowId: string,
      body: BodyOf<'POST /api/workflows/{id}/inbound-events/replay'>,
      options?: TriggerOptions,
    ): Promise<StartedJob> =>
      send('POST /api/workflows/{id}/inbound-events/replay', [workflowId], {
        body,
        ...onceOf(options),
      }),
    /** One page of the replays of a workflow, newest first. */
    listEventReplays: (
      workflowId: string,
      query: QueryOf<'GET /api/workflows/{id}/event-replays'> = {},
      options?: CallOptions,
    ): Promise<AnswerOf<'GET /api/workflows/{id}/event-replays'>> =>
      send('GET /api/workflows/{id}/event-replays', [workflowId], { query, options }),
    getEventReplay: (replayId: string, options?: CallOptions): Promise<EventReplay> =>
      send('GET /api/event-replays/{id}', [replayId], { options }),
    /** Cancels a replay: it starts no further runs. Runs that it started continue. */
    cancelEventReplay: (replayId: string, options?: CallOptions): Promise<EventReplay> =>
      send('POST /api/event-replays/{id}/cancel', [replayId], { options }),
  };
}
