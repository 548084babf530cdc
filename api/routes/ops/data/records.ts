import { entitySchema } from '#shared/contract/data/entity.ts';
import {
  recordChangeQuery,
  recordChangesSchema,
  recordEventQuery,
  recordEventsSchema,
  recordHistoryQuery,
  recordHistorySchema,
  recordListQuery,
  recordListSchema,
} from '#shared/contract/data/record.ts';
import { listChanges, namesOfChanged } from '#shared/db/data/changes.ts';
import { listEntities, readEntity, readHistory } from '#shared/db/data/entities.ts';
import { listEvents } from '#shared/db/data/events.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { openPage } from '#api/data/page.ts';
import type { App, RouteContext } from '#api/deps.ts';

/** The read routes of `/v1`, for members: in both modes, and without counting, charging or marking as delivered. */
export function dataRecordRoutes(app: App, { db, dataCursors }: RouteContext): void {
  app.get('/api/data/entities', {
    schema: {
      operationId: 'listEntities',
      summary: 'List records, newest first',
      description:
        'Newest is the last first observation; with `updated_since`, the last update. Costs no credits.',
      querystring: recordListQuery,
      response: responses({ 200: recordListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, query }) => {
      const { filter, page, next } = openPage(dataCursors, { workspaceId }, 'entities', query);
      const { rows, end } = await listEntities(db, { workspaceId }, filter, page);
      return { entities: rows, next_cursor: next(end) };
    },
  });

  app.get('/api/data/entities/:id', {
    schema: {
      operationId: 'getEntity',
      summary: 'Read a record',
      params: idParams,
      response: responses({ 200: entitySchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params }) =>
      readEntity(db, { workspaceId }, params.id),
  });

  app.get('/api/data/entities/:id/history', {
    schema: {
      operationId: 'getEntityHistory',
      summary: 'Read the versions of a record and their changes, newest first',
      params: idParams,
      querystring: recordHistoryQuery,
      response: responses({ 200: recordHistorySchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params: { id }, query }) => {
      const { page, next } = openPage(dataCursors, { workspaceId }, `history of ${id}`, query);
      const { end, ...history } = await readHistory(db, { workspaceId }, id, page);
      return { ...history, next_cursor: next(end) };
    },
  });

  app.get('/api/data/changes', {
    schema: {
      operationId: 'listChanges',
      summary: 'List changes of records, attribute by attribute, newest first',
      querystring: recordChangeQuery,
      response: responses({ 200: recordChangesSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, query }) => {
      const { filter, page, next } = openPage(dataCursors, { workspaceId }, 'changes', query);
      const { rows, end } = await listChanges(db, { workspaceId }, filter, page);
      const names = await namesOfChanged(db, workspaceId, rows);
      const changes = rows.map((change) => ({
        ...change,
        entity_name: names.get(change.entity_id) ?? null,
      }));
      return { changes, next_cursor: next(end) };
    },
  });

  app.get('/api/data/events', {
    schema: {
      operationId: 'listEvents',
      summary: 'List intelligence events, newest first',
      description: 'Does not mark them as delivered.',
      querystring: recordEventQuery,
      response: responses({ 200: recordEventsSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, query }) => {
      const { filter, page, next } = openPage(dataCursors, { workspaceId }, 'events', query);
      const { rows, end } = await listEvents(db, { workspaceId }, filter, page);
      return { events: rows, next_cursor: next(end) };
    },
  });
}
