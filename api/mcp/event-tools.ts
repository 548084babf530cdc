import { eventDetailSchema, eventInput, eventSchema } from '#shared/contract/events/event.ts';
import { readEventDetail } from '#shared/db/events/events.ts';
import { sendEvent } from '#shared/operations/events/events.ts';
import { z } from 'zod';
import { changes, defineTool, looksOnly, type McpTool } from './tool.ts';

export const eventTools: readonly McpTool[] = [
  defineTool({
    name: 'send_event',
    title: 'Send an event',
    description:
      'Ends every wait of an open run that waits for it, also one that is reached later. With an id, the same event is ' +
      'stored once.',
    capability: 'run_workflows',
    annotations: { ...changes, openWorldHint: true },
    input: eventInput,
    output: eventSchema,
    handle: async ({ context, actor }, { id, ...event }) => {
      const { workspaceId, id: by, name } = actor;
      const sent = await sendEvent(context, {
        ...{ ...event, workspaceId, givenId: id, source: 'api' },
        by: { id: by, name },
      });
      return sent.event;
    },
  }),
  defineTool({
    name: 'get_event',
    title: 'Read an event',
    description: 'Reads an event with its data and the waits that it has ended.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ event_id: z.string().min(1).max(100) }),
    output: eventDetailSchema,
    handle: async ({ context: { db }, actor: { workspaceId } }, { event_id: id }) =>
      readEventDetail(db, { workspaceId, id }),
  }),
];
